package import SessionModel

/// The size of a picture, in pixels.
public struct Dimensions: Hashable, Sendable, CustomStringConvertible {
  /// Pixels across.
  public var width: Int
  /// Pixels down.
  public var height: Int

  /// Makes a size of `width` by `height` pixels.
  public init(width: Int, height: Int) { (self.width, self.height) = (width, height) }

  package init(_ size: PixelSize) { self.init(width: size.width, height: size.height) }
  package var pixelSize: PixelSize { PixelSize(width: width, height: height) }

  /// `1920x1080`.
  public var description: String { "\(width)x\(height)" }
}

// `PixelSize.presets` are the same sizes under the same names; a test holds them together.
extension Dimensions {
  /// 320x180, 16:9.
  public static let h180_169 = Dimensions(width: 320, height: 180)
  /// 640x360, 16:9.
  public static let h360_169 = Dimensions(width: 640, height: 360)
  /// 1280x720, 16:9.
  public static let h720_169 = Dimensions(width: 1280, height: 720)
  /// 1920x1080, 16:9.
  public static let h1080_169 = Dimensions(width: 1920, height: 1080)
  /// 2560x1440, 16:9.
  public static let h1440_169 = Dimensions(width: 2560, height: 1440)
  /// 3840x2160, 16:9.
  public static let h2160_169 = Dimensions(width: 3840, height: 2160)
  /// 240x180, 4:3.
  public static let h180_43 = Dimensions(width: 240, height: 180)
  /// 480x360, 4:3.
  public static let h360_43 = Dimensions(width: 480, height: 360)
  /// 960x720, 4:3.
  public static let h720_43 = Dimensions(width: 960, height: 720)
  /// 1440x1080, 4:3.
  public static let h1080_43 = Dimensions(width: 1440, height: 1080)
  /// 1920x1440, 4:3.
  public static let h1440_43 = Dimensions(width: 1920, height: 1440)
  /// 2880x2160, 4:3.
  public static let h2160_43 = Dimensions(width: 2880, height: 2160)

  /// Every preset, by its name.
  static let presets: [String: Dimensions] = [
    "h180_169": .h180_169, "h360_169": .h360_169, "h720_169": .h720_169, "h1080_169": .h1080_169,
    "h1440_169": .h1440_169, "h2160_169": .h2160_169, "h180_43": .h180_43, "h360_43": .h360_43, "h720_43": .h720_43,
    "h1080_43": .h1080_43, "h1440_43": .h1440_43, "h2160_43": .h2160_43,
  ]
}
