/// How the picture is encoded, for a person who does not want to choose an encoder's settings one by one. The settings are
/// points of the table that `scripts/bench quality` makes, of processor time, bytes, likeness and legibility: for each
/// quality the one with the least processor time, or the fewest bytes, for what it promises.
package enum VideoQuality: String, Codable, Sendable, CaseIterable {
  /// The least processor time; what scrolls takes several times the disk.
  case fast
  /// As sharp as x264's own defaults for little more processor time than `fast`.
  case balanced
  /// The smallest files whose text is as easy to read, for twice the processor time; what moves is a little softer.
  case small
  /// Every pixel as it was on the screen.
  case lossless

  /// x264's preset.
  package var preset: String {
    switch self {
    case .fast, .balanced: "ultrafast"
    case .small: "veryfast"
    case .lossless: "superfast"
    }
  }

  /// x264's quantiser of every picture: its rate factor would cost a look at each picture beforehand, a third of all that
  /// `fast` takes, to save bytes where a screen has none to save.
  package var quantiser: Int {
    switch self {
    case .fast: 21
    case .balanced: 19
    case .small: 23
    case .lossless: 0
    }
  }

  /// The rate factor for encoders that take no quantiser: x264's own default.
  package var constantRateFactor: Int { 23 }

  /// What x264 is told beside its preset, in its own words. Looking for scene cuts, it sees by how much a page has
  /// scrolled, which its fastest search is too short-sighted for; the cuts make no keyframes beside those that are due.
  package var parameters: String? {
    switch self {
    case .fast, .lossless: nil
    case .balanced: "scenecut=40:min-keyint=\(VideoOptions.keyframeDistance)"
    case .small: "ref=3"
    }
  }
}

extension VideoOptions {
  /// After so many frames one is made a keyframe, so that a seek never decodes more than that: x264's own default, and a
  /// quarter of a second's decoding at 1080p. Each keyframe of a moving screen takes as much disk as seconds of it.
  package static let keyframeDistance = 250

  /// Sets all that `quality` stands for.
  package mutating func take(_ quality: VideoQuality) {
    (self.quality, lossless) = (quality, quality == .lossless)
    (preset, constantRateFactor, quantiser) = (quality.preset, quality.constantRateFactor, quality.quantiser)
  }
}
