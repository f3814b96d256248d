/// How the processes of a `SoundServer` are started, the one that clients talk to being the last.
enum SoundDaemons {
  /// Starts PulseAudio.
  static func pulseAudio(
    in folder: TemporaryFolder, _ rates: (desktop: Int, microphone: Int)
  ) throws -> (daemons: [ChildProcess], address: String) {
    let address = SoundServer.address(.pulseAudio, in: folder)
    // norewinds: else a sink that nobody had asked for haste is two seconds ahead and catches up at its own time.
    let script = """
      load-module module-native-protocol-unix auth-anonymous=1 socket=\(folder.file("native"))
      load-module module-null-sink sink_name=desktop rate=\(rates.desktop) channels=2 norewinds=1
      load-module module-null-sink sink_name=feed rate=\(rates.microphone) channels=1 channel_map=mono norewinds=1
      load-module module-virtual-source source_name=microphone master=feed.monitor
      set-default-sink desktop
      set-default-source microphone

      """
    try writeFile(folder.file("rig.pa"), script.utf8)
    let server = try ChildProcess(
      [
        "pulseaudio", "-n", "--daemonize=no", "--use-pid-file=no", "--exit-idle-time=-1", "--disable-shm=yes",
        "--realtime=no", "--high-priority=no", "-F", folder.file("rig.pa"),
      ], environment: environment(of: folder), isPrompt: true)
    try wait(for: server, at: address) { try control(address, "get-default-source").text == "microphone\n" }
    return ([server], address)
  }

  /// Starts PipeWire, WirePlumber and PipeWire's PulseAudio server.
  static func pipeWire(
    in folder: TemporaryFolder, _ rates: (desktop: Int, microphone: Int)
  ) throws -> (daemons: [ChildProcess], address: String) {
    let address = SoundServer.address(.pipeWire, in: folder)
    try run(["mkdir", "-p", folder.file("wireplumber/main.lua.d")])
    try writeFile(folder.file("wireplumber/wireplumber.conf"), manager.utf8)
    try writeFile(folder.file("wireplumber/main.lua.d/policy.lua"), policy.utf8)
    let variables = environment(of: folder)
    let core = try ChildProcess(["pipewire"], environment: variables, isPrompt: true)
    try wait(for: core, at: address) {
      try run(["pw-cli", "info", "0"], environment: variables).status == 0
    }
    let daemons =
      try [core]
      + ["wireplumber", "pipewire-pulse"].map { try ChildProcess([$0], environment: variables, isPrompt: true) }
    try wait(for: daemons[2], at: address) { try control(address, "info").status == 0 }
    for module in [
      ["module-null-sink", "sink_name=desktop", "rate=\(rates.desktop)", "channels=2"],
      ["module-null-sink", "sink_name=feed", "rate=\(rates.microphone)", "channels=1", "channel_map=mono"],
      ["module-remap-source", "source_name=microphone", "master=feed.monitor", "channels=1", "channel_map=mono"],
    ] {
      let result = try control(address, ["load-module"] + module)
      guard result.status == 0 else { throw TestFailure("\(module): \(result.errorText)") }
    }
    // Defaults are the session manager's, which may not be there yet, and which looks for the best by itself.
    for (kind, name) in [("sink", "desktop"), ("source", "microphone")] {
      try wait(for: daemons[1], at: address) {
        _ = try control(address, "set-default-\(kind)", name)
        return try control(address, "get-default-\(kind)").text == "\(name)\n"
      }
    }
    return (daemons, address)
  }

  private static func environment(of folder: TemporaryFolder) -> [String: String?] {
    [
      "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "PULSE_RUNTIME_PATH": nil, "PULSE_STATE_PATH": folder.path,
      "PULSE_SERVER": nil, "DISPLAY": nil, "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.file("none"))",
      "XDG_CONFIG_HOME": nil, "XDG_STATE_HOME": nil, "PIPEWIRE_RUNTIME_DIR": nil,
      "WIREPLUMBER_CONFIG_DIR": folder.file("wireplumber"),
    ]
  }

  private static func control(_ address: String, _ arguments: String...) throws -> ChildProcess.Result {
    try control(address, arguments)
  }

  private static func control(_ address: String, _ arguments: [String]) throws -> ChildProcess.Result {
    try run(["pactl"] + arguments, environment: ["PULSE_SERVER": address])
  }

  private static func wait(for daemon: ChildProcess, at address: String, _ isReady: () throws -> Bool) throws {
    try waitUntil("the sound server to answer; stderr: \(daemon.errorsSoFar)") {
      guard daemon.isRunning else { throw TestFailure("a sound server ended: \(daemon.errorsSoFar)") }
      return try isReady()
    }
  }

  /// WirePlumber without what looks for hardware, which needs a session bus.
  private static let manager = """
    context.properties = { log.level = 2, wireplumber.script-engine = lua-scripting }
    context.spa-libs = { audio.convert.* = audioconvert/libspa-audioconvert, support.* = support/libspa-support }
    context.modules = [
      { name = libpipewire-module-protocol-native }
      { name = libpipewire-module-client-node }
      { name = libpipewire-module-adapter }
      { name = libpipewire-module-metadata }
      { name = libpipewire-module-session-manager }
    ]
    wireplumber.components = [
      { name = libwireplumber-module-lua-scripting, type = module }
      { name = main.lua, type = config/lua }
    ]

    """

  /// What Debian's WirePlumber does with streams: it links them, follows a changed default, and suspends what is idle.
  private static let policy = """
    components = {}
    local function module(name, arguments)
      components[name] = { "libwireplumber-module-" .. name, type = "module", args = arguments }
    end
    local function script(name, arguments) components[name] = { name, type = "script/lua", args = arguments } end
    local policy = { ["move"] = true, ["follow"] = true }
    module("metadata")
    script("access/access-default.lua", { rules = {} })
    module("default-nodes", { ["use-persistent-storage"] = false })
    module("default-nodes-api")
    module("mixer-api")
    for _, name in ipairs({ "si-node", "si-audio-adapter", "si-standard-link", "si-audio-endpoint" }) do module(name) end
    script("suspend-node.lua")
    script("static-endpoints.lua", {})
    for _, name in ipairs({
      "create-item", "policy-node", "policy-endpoint-client", "policy-endpoint-client-links", "policy-endpoint-device"
    }) do script(name .. ".lua", policy) end

    """
}
