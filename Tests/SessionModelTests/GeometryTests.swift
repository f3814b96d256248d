import SessionModel
import Testing

struct GeometryTests {
  @Test func intersectionAndUnion() {
    let left = PixelRect(x: -10, y: 0, width: 20, height: 10)
    let right = PixelRect(x: 5, y: 5, width: 20, height: 10)
    #expect(left.intersection(right) == PixelRect(x: 5, y: 5, width: 5, height: 5))
    #expect(left.union(right) == PixelRect(x: -10, y: 0, width: 35, height: 15))
    #expect(left.intersection(PixelRect(x: 100, y: 100, width: 1, height: 1)).isEmpty)
    #expect(PixelRect(x: 3, y: 3, width: 0, height: 0).union(left) == left)
    #expect(left.union(right).contains(left))
    #expect(!left.contains(right))
  }

  @Test(arguments: [
    (PixelRect(x: 1, y: 1, width: 1, height: 1), PixelRect(x: 0, y: 0, width: 2, height: 2)),
    (PixelRect(x: 3, y: 2, width: 4, height: 3), PixelRect(x: 2, y: 2, width: 6, height: 4)),
    (PixelRect(x: -3, y: -1, width: 2, height: 1), PixelRect(x: -4, y: -2, width: 4, height: 2)),
  ])
  func evenAlignmentCovers(rect: PixelRect, even: PixelRect) { #expect(rect.alignedToEven == even) }

  @Test(arguments: [
    ("1920x1080", "1280x720", "1280x720"), ("1280x1024", "1920x1080", "1280x1024"),
    ("2560x1600", "1920x1080", "1728x1080"), ("3x2000", "1920x1080", "2x1080"), ("5000x1", "1920x1080", "1920x1"),
  ])
  func fittingKeepsTheAspectAndNeverScalesUp(size: String, bounds: String, fitted: String) throws {
    let (size, bounds) = (try #require(PixelSize(size)), try #require(PixelSize(bounds)))
    #expect(size.fitted(into: bounds).description == fitted)
    // Where it is smaller it can be told to fill them.
    let filled = size.filling(bounds)
    #expect(filled.width == bounds.width || filled.height == bounds.height)
    #expect(size == size.fitted(into: bounds) || filled == size.fitted(into: bounds))
  }

  @Test(arguments: ["0x0", "0x5", "5x0", "x5", "5x", "-1x5", "1.5x2", "99999x1", "16385x1", "1x1x1", "", "５x5"])
  func refusedSizes(text: String) { #expect(PixelSize(text) == nil) }

  @Test(arguments: [
    ("640x480+10+20", "640x480+10+20"), ("640x480-10+0", "640x480-10+0"), ("1x1-1-1", "1x1-1-1"),
    ("640x480+-10+20", "640x480-10+20"), ("640x480+-10+-20", "640x480-10-20"),
  ])
  func geometryRoundTrips(text: String, shown: String) {
    #expect(PixelRect(geometry: text)?.description == shown)
  }

  @Test(arguments: [
    "640x480", "640x480+1", "0x5+1+1", "640x480+1+99999", "640x480+1+1+1", "640x480++1+1", "640x480-+1+1",
  ])
  func refusedGeometry(text: String) { #expect(PixelRect(geometry: text) == nil) }

  @Test func presetsAreTheNamedHeights() {
    let named = Dictionary(uniqueKeysWithValues: PixelSize.presets.map { ($0.name, $0.size.description) })
    #expect(named["h1080"] == "1920x1080")
    #expect(named["h720_43"] == "960x720")
    #expect(named["h180"] == "320x180")
    #expect(named.count == 18)
  }
}

struct SourceSpecificationTests {
  @Test(arguments: [
    "display", "monitor:HDMI-1", "window:0x1a00007", "window:title=a=b:c", "window:class=XTerm", "window:active",
    "region:640x480+10-20",
  ])
  func roundTrips(text: String) throws { #expect(try SourceSpecification(parsing: text).text == text) }

  @Test func decimalWindowIDs() throws {
    #expect(try SourceSpecification(parsing: "window:255") == .window(.id(255)))
  }

  @Test(arguments: [
    "", "displays", "display:", "monitor", "monitor:", "window:", "window:0", "window:0x", "window:title=",
    "window:pid=x", "window:pid=", "region:", "region:0x0+1+1", "screen:1", "window:99999999999",
  ])
  func refusedWithAUsageSentence(text: String) {
    let error = #expect(throws: RecorderError.self) { try SourceSpecification(parsing: text) }
    #expect(error?.code == .usage)
    #expect(error?.hint?.isEmpty == false)
  }

  @Test func audioDevices() throws {
    #expect(try AudioDeviceSpecification(parsing: "") == .standard)
    #expect(try AudioDeviceSpecification(parsing: "alsa:hw:0,0") == .alsa(pcm: "hw:0,0"))
    #expect(try AudioDeviceSpecification(parsing: "pulse:x.monitor") == .pulse(source: "x.monitor"))
    #expect(throws: RecorderError.self) { try AudioDeviceSpecification(parsing: "jack:x") }
    #expect(throws: RecorderError.self) { try AudioDeviceSpecification(parsing: "alsa:") }
  }
}
