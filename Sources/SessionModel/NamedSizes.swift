extension PixelRect {
  /// The rectangle that an X geometry (`640x480+10-20`) names, as it is or as X's own programs print it
  /// (`640x480+10+-20`); nil when it names none, an empty one, or one past `largestSide`.
  package init?(geometry text: some StringProtocol) {
    let text = String(text).replacing("+-", with: "-")
    guard let signs = text.firstIndex(where: { $0 == "+" || $0 == "-" }), let size = PixelSize(text[..<signs])
    else { return nil }
    let rest = text[signs...]
    guard let second = rest.dropFirst().firstIndex(where: { $0 == "+" || $0 == "-" }),
      let x = Int(rest[..<second]), let y = Int(rest[second...]), abs(x) <= 32767, abs(y) <= 32767
    else { return nil }
    self.init(x: x, y: y, width: size.width, height: size.height)
  }
}

extension PixelSize {
  /// The largest side of a picture, in pixels: X coordinates are 16 bits, and encoders stop at the same order.
  package static let largestSide = 16384

  /// The size that `WIDTHxHEIGHT` names; nil when it names none, an empty one, or one past `largestSide`.
  package init?(_ text: some StringProtocol) {
    let sides = text.split(separator: "x", omittingEmptySubsequences: false)
    guard sides.count == 2, sides.allSatisfy({ isDigits($0) }),
      let width = Int(sides[0]), let height = Int(sides[1]), (1...Self.largestSide).contains(width),
      (1...Self.largestSide).contains(height)
    else { return nil }
    self.init(width: width, height: height)
  }

  /// The named sizes, by height and aspect ratio; `h1080` alone is the 16:9 one.
  package static let presets: [(name: String, size: PixelSize)] = [180, 360, 720, 1080, 1440, 2160].flatMap {
    (height: Int) -> [(name: String, size: PixelSize)] in
    let wide = PixelSize(width: height * 16 / 9, height: height)
    let classic = PixelSize(width: height * 4 / 3, height: height)
    return [("h\(height)", wide), ("h\(height)_169", wide), ("h\(height)_43", classic)]
  }

  /// 1920x1080.
  package static let h1080_169 = PixelSize(width: 1920, height: 1080)
}
