import SessionModel

/// Whether numbers that came from a file can be what they say. Everybody calculates with them; one that cannot be is
/// stopped where it comes in.
extension Manifest {
  /// Whether every number is one that a recorder may have written.
  var isPlausible: Bool {
    let steps = clock.steps?.map(\.time) ?? []
    let times: [Timestamp?] = segments.flatMap { [$0.start, $0.end] } + [end?.time] + steps.map { $0 }
    let counts = segments.map { $0.bytes } + [statistics?.bytes]
    // Half a day and more is between the ends of the zones.
    return (-86_400...86_400).contains(clock.utcOffset) && clock.monotonic >= 0 && steps == steps.sorted()
      && times.allSatisfy { $0?.isPlausible ?? true } && counts.allSatisfy { $0 ?? 0 >= 0 }
      && source.rect.isPlausible && source.window?.rect?.isPlausible ?? true && tracks.allSatisfy(\.isPlausible)
      && segments.allSatisfy { $0.size?.isPlausible ?? true }
      && options.video.size.map { PixelRect($0).isPlausible } ?? true
      && redactions?.allSatisfy { $0.from.isPlausible && $0.to.isPlausible && $0.from < $0.to } ?? true
  }
}

extension Manifest.Track {
  /// Whether every number is one that a recorder may have written.
  fileprivate var isPlausible: Bool {
    let sizes = [size, encodedSize].compactMap(\.self)
    // More than any sound card has.
    return (0...1000).contains(index) && (1...10_000_000).contains(sampleRate ?? 1)
      && (1...1000).contains(channels ?? 1)
      && sizes.allSatisfy(\.isPlausible)
  }
}

extension PixelSize {
  /// Whether a picture can have it.
  fileprivate var isPlausible: Bool { width > 0 && height > 0 && PixelRect(self).isPlausible }
}

extension PixelRect {
  /// Whether it can be on an X screen, whose coordinates have 16 bits, or on one padded for an encoder.
  fileprivate var isPlausible: Bool {
    let places = -65_536...65_536
    return places.contains(x) && places.contains(y) && (0...65_536).contains(width) && (0...65_536).contains(height)
  }
}

extension Timestamp {
  /// Whether a session can have it: not before its epoch, and within thirty years.
  var isPlausible: Bool { (0...1_000_000_000_000_000_000).contains(nanoseconds) }
}

extension Event {
  /// Whether its times are those of a session.
  var isPlausible: Bool { time.isPlausible && gap.map { $0.start.isPlausible && $0.end.isPlausible } ?? true }
}
