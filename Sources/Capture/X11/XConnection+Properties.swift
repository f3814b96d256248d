internal import CXCB
import FoundationEssentials
import Glibc
import SessionModel

extension XConnection {
  /// The most bytes read of one property: any client can make one of any size.
  static let largestProperty = 65536

  /// A property's value.
  struct Property {
    /// The atom of its type.
    var type: xcb_atom_t
    /// Its bytes, at most `largestProperty`.
    var bytes: [UInt8]
    /// Whether there is more than was read.
    var isCut: Bool
  }

  /// The atom of `name`; 0 when no client has made it.
  func atom(_ name: String) -> xcb_atom_t {
    if let atom = atoms[name] { return atom }
    let cookie = xcb_intern_atom(handle, 1, UInt16(clamping: name.utf8.count), name)
    let atom = XReply(xcb_intern_atom_reply(handle, cookie, nil))?.value.atom ?? 0
    // One that does not exist yet may be made later.
    if atom != 0 { atoms[name] = atom }
    return atom
  }

  /// The name of an atom, invalid bytes replaced.
  func atomName(_ atom: xcb_atom_t) -> String {
    guard let reply = XReply(xcb_get_atom_name_reply(handle, xcb_get_atom_name(handle, atom), nil)) else { return "" }
    return reply.read { name in
      let bytes = UnsafeRawBufferPointer(
        start: xcb_get_atom_name_name(name), count: Int(xcb_get_atom_name_name_length(name)))
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The property `name` of `window`; nil when it has none, or is gone.
  func property(_ name: String, of window: xcb_window_t) -> Property? {
    let atom = atom(name)
    guard atom != 0 else { return nil }
    let cookie = xcb_get_property(handle, 0, window, atom, 0, 0, UInt32(Self.largestProperty / 4))
    guard let reply = XReply(xcb_get_property_reply(handle, cookie, nil)), reply.value.type != 0 else { return nil }
    return reply.read { property in
      let count = Int(xcb_get_property_value_length(property))
      let bytes = UnsafeRawBufferPointer(start: xcb_get_property_value(property), count: max(0, count))
      return Property(type: property.pointee.type, bytes: Array(bytes), isCut: property.pointee.bytes_after > 0)
    }
  }

  /// The property's 32-bit words; empty when there is none.
  func words(_ name: String, of window: xcb_window_t) -> [UInt32] {
    guard let bytes = property(name, of: window)?.bytes else { return [] }
    return bytes.withUnsafeBytes { raw in
      (0..<raw.count / 4).map { raw.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
    }
  }

  /// The title of `window`, and its bytes in base 64 when text does not hold them.
  func title(of window: xcb_window_t) -> (text: String, bytes: String?) {
    guard let property = property("_NET_WM_NAME", of: window) ?? property("WM_NAME", of: window) else {
      return ("", nil)
    }
    var bytes = property.bytes
    while bytes.last == 0 { bytes.removeLast() }
    if property.isCut { Self.dropPartialCharacter(&bytes) }
    if property.type == atom("COMPOUND_TEXT"), !bytes.contains(0) {
      let text = CompoundText.decode(bytes)
      return (text, text.contains("\u{FFFD}") ? Data(bytes).base64EncodedString() : nil)
    }
    if let text = String(validating: bytes, as: UTF8.self), !bytes.contains(0) { return (text, nil) }
    // ICCCM: the type STRING is ISO 8859-1, whose codes are Unicode's.
    if property.type == XCB_ATOM_STRING.rawValue, !bytes.contains(0) {
      return (String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })), nil)
    }
    let text = String(decoding: bytes, as: UTF8.self).split(separator: "\0", omittingEmptySubsequences: false)
    return (text.joined(separator: "\u{FFFD}"), Data(bytes).base64EncodedString())
  }

  /// Takes the bytes of a character that a cut went through off the end.
  private static func dropPartialCharacter(_ bytes: inout [UInt8]) {
    guard let start = bytes.suffix(4).lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return }
    let length = bytes[start] < 0x80 ? 1 : bytes[start] < 0xE0 ? 2 : bytes[start] < 0xF0 ? 3 : 4
    if bytes.count - start < length { bytes.removeSubrange(start...) }
  }
}
