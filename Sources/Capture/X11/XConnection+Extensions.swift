internal import CXCB

extension XConnection {
  /// The names of the extensions that a recording uses and this server lacks, in a fixed order.
  var missingExtensions: [String] {
    let wanted = [
      ("MIT-SHM", recorder_xcb_shm_id()), ("DAMAGE", recorder_xcb_damage_id()), ("XFIXES", recorder_xcb_xfixes_id()),
      ("RANDR", recorder_xcb_randr_id()), ("Composite", recorder_xcb_composite_id()),
      ("XInputExtension", recorder_xcb_input_id()),
    ]
    return wanted.filter { `extension`($0.1) == nil }.map(\.0)
  }
}
