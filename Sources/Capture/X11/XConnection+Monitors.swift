internal import CXCB
import SessionModel

extension XConnection {
  /// One monitor.
  struct Monitor: Hashable {
    /// RandR's name of it (`HDMI-1`).
    var name: String
    /// Its place on the root, in pixels.
    var rect: PixelRect
    /// Whether it is the primary one.
    var isPrimary = false
  }

  /// The root window's size now, in pixels.
  var rootSize: PixelSize {
    guard let now = XReply(xcb_get_geometry_reply(handle, xcb_get_geometry(handle, root), nil)) else {
      return PixelSize(width: Int(screen.width_in_pixels), height: Int(screen.height_in_pixels))
    }
    return PixelSize(width: Int(now.value.width), height: Int(now.value.height))
  }

  /// Asks for an event at each change of monitors; nil without RandR.
  /// - Returns: the types of those events.
  func selectMonitorChanges() -> ClosedRange<Int32>? {
    guard let randr = self.extension(recorder_xcb_randr_id()) else { return nil }
    let wanted = [
      XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE, XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE, XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE,
    ]
    xcb_randr_select_input(handle, root, UInt16(wanted.reduce(0) { $0 | $1.rawValue }))
    let first = Int32(randr.first_event)
    return first...first + Int32(XCB_RANDR_NOTIFY)
  }

  /// RandR's version, as far as 1.5; nil without RandR.
  func randrVersion() -> (major: UInt32, minor: UInt32)? {
    guard self.extension(recorder_xcb_randr_id()) != nil else { return nil }
    return XReply(xcb_randr_query_version_reply(handle, xcb_randr_query_version(handle, 1, 5), nil))
      .borrow { ($0.value.major_version, $0.value.minor_version) }
  }

  /// The monitors that RandR names; empty without RandR.
  func monitors() -> [Monitor] {
    guard let version = randrVersion() else { return [] }
    return version >= (1, 5) ? namedMonitors() : outputs()
  }

  /// RandR 1.5: monitors, which a person may have named and cut as he likes.
  private func namedMonitors() -> [Monitor] {
    let cookie = xcb_randr_get_monitors(handle, root, 1)
    guard let reply = XReply(xcb_randr_get_monitors_reply(handle, cookie, nil)) else { return [] }
    return reply.read { monitors in
      var found: [Monitor] = []
      var iterator = xcb_randr_get_monitors_monitors_iterator(monitors)
      while iterator.rem > 0, let monitor = iterator.data?.pointee {
        let rect = PixelRect(
          x: Int(monitor.x), y: Int(monitor.y), width: Int(monitor.width), height: Int(monitor.height))
        if !rect.isEmpty {
          found.append(Monitor(name: atomName(monitor.name), rect: rect, isPrimary: monitor.primary != 0))
        }
        xcb_randr_monitor_info_next(&iterator)
      }
      return found
    }
  }

  /// RandR before 1.5: the outputs that show something.
  func outputs() -> [Monitor] {
    let cookie = xcb_randr_get_screen_resources(handle, root)
    guard let reply = XReply(xcb_randr_get_screen_resources_reply(handle, cookie, nil)) else { return [] }
    let (time, ids) = reply.read { resources in
      (
        resources.pointee.config_timestamp,
        Array(
          UnsafeBufferPointer(
            start: xcb_randr_get_screen_resources_outputs(resources),
            count: Int(xcb_randr_get_screen_resources_outputs_length(resources))))
      )
    }
    let primary = XReply(
      xcb_randr_get_output_primary_reply(handle, xcb_randr_get_output_primary(handle, root), nil))?.value.output
    return ids.compactMap { id in
      let cookie = xcb_randr_get_output_info(handle, id, time)
      guard let output = XReply(xcb_randr_get_output_info_reply(handle, cookie, nil)), output.value.crtc != 0,
        let crtc = XReply(
          xcb_randr_get_crtc_info_reply(handle, xcb_randr_get_crtc_info(handle, output.value.crtc, time), nil))
      else { return nil }
      let name = output.read { info in
        String(
          decoding: UnsafeBufferPointer(
            start: xcb_randr_get_output_info_name(info), count: Int(xcb_randr_get_output_info_name_length(info))),
          as: UTF8.self)
      }
      let place = crtc.value
      return Monitor(
        name: name,
        rect: PixelRect(x: Int(place.x), y: Int(place.y), width: Int(place.width), height: Int(place.height)),
        isPrimary: id == primary)
    }
  }
}
