internal import CXCB
internal import CYUV
import Glibc
import SessionModel

/// The kept picture: the whole clean picture at four bytes a pixel, and as much again into which parts are fetched that
/// cannot land in their place at once, or have to be converted. One segment shared with the server, or plain memory when
/// it cannot share.
struct PictureMemory: ~Copyable {
  /// The first pixel of the picture.
  let base: UnsafeMutableRawPointer
  /// Bytes from one row to the next.
  let bytesPerRow: Int
  /// The picture's size in pixels.
  let size: PixelSize
  /// How pixels are fetched.
  let layout: PixelLayout
  private let connection: XConnection
  /// The segment's X id; 0 without shared memory.
  private let segment: xcb_shm_seg_t
  /// The numbers of the requests of a fetch, and behind them that of the last one.
  private let sequences: UnsafeMutablePointer<UInt32>
  /// One converted row.
  private let line: UnsafeMutablePointer<UInt32>
  private let palette: UnsafeMutablePointer<UInt32>
  /// Cells of a colour map that a pixel of eight bits can name.
  private static let cells = 256

  /// Allocates a black picture of `size` pixels, which are fetched as `layout`.
  /// - Throws: `RecorderError` (systemCall) when there is no memory for it.
  init(size: PixelSize, layout: PixelLayout, connection: XConnection) throws(RecorderError) {
    let bytes = size.area * 4
    // Without it every picture comes through the connection.
    let shared = try? SharedSegment.share(bytes: bytes * 2, connection)
    guard let memory = shared?.memory ?? calloc(2, bytes) else {
      throw RecorderError(.systemCall, "There is no memory for a picture of \(size) pixels.")
    }
    (segment, base) = (shared?.id ?? 0, memory)
    (self.size, self.layout, self.connection, bytesPerRow) = (size, layout, connection, size.width * 4)
    sequences = .allocate(capacity: GrabPlan.mostRects + 1)
    sequences[GrabPlan.mostRects] = 0
    line = .allocate(capacity: size.width)
    palette = .allocate(capacity: Self.cells)
    palette.initialize(repeating: 0, count: Self.cells)
  }

  deinit {
    if segment != 0 {
      SharedSegment(id: segment, memory: base).detach(connection)
    } else {
      free(base)
    }
    sequences.deallocate()
    line.deallocate()
    palette.deallocate()
  }

  /// Whether the server writes into the picture itself.
  var isShared: Bool { segment != 0 }

  /// The number of the last request for pixels.
  var lastRequest: UInt32 { sequences[GrabPlan.mostRects] }

  /// Makes all of the picture black.
  func clear() { memset(base, 0, size.area * 4) }

  /// Makes `rect` of the picture black.
  func clear(_ rect: PixelRect) {
    let part = rect.intersection(PixelRect(size))
    for row in part.y..<part.maxY { memset(base + row * bytesPerRow + part.x * 4, 0, part.width * 4) }
  }

  /// Fetches `rects` of the picture into their places.
  /// - Parameters:
  ///   - origin: the picture's left top corner in `drawable`.
  ///   - over: whether what is there shines through where the drawable's alpha lets it.
  /// - Returns: false when the server refused one (a stale geometry), or is gone.
  func fetch(
    _ rects: UnsafeBufferPointer<PixelRect>, of drawable: xcb_drawable_t, origin: (x: Int, y: Int), over: Bool = false
  ) -> Bool {
    func place(of rect: PixelRect) -> Int? { over ? nil : self.place(of: rect) }
    var offset = size.area * 4
    for (index, rect) in rects.enumerated() {
      sequences[index] = request(rect, of: drawable, origin: origin, offset: place(of: rect) ?? offset)
      if place(of: rect) == nil { offset += rect.area * 4 }
    }
    var succeeded = true
    offset = size.area * 4
    for (index, rect) in rects.enumerated() {
      // Every reply is taken, even after a failure.
      let fetched = receive(sequences[index], rect, offset: offset, inPlace: !over) { pixels in
        if over { blend(pixels, over: rect) } else { copy(pixels, to: rect) }
      }
      succeeded = fetched && succeeded
      if place(of: rect) == nil { offset += rect.area * 4 }
    }
    return succeeded
  }

  /// Fetches `rect` and keeps only the rows that differ from the kept picture, for servers without XDamage.
  /// - Parameter plan: set to the bands of rows that differed.
  /// - Returns: false when the server refused, or is gone.
  func fetchDifference(
    _ rect: PixelRect, of drawable: xcb_drawable_t, origin: (x: Int, y: Int), plan: inout GrabPlan
  ) -> Bool {
    plan.clear()
    if rect.isEmpty { return true }
    let offset = size.area * 4
    let sequence = request(rect, of: drawable, origin: origin, offset: offset)
    return receive(sequence, rect, offset: offset, inPlace: false) { pixels in
      compare(pixels, rect, plan: &plan)
    }
  }

  private func compare(_ pixels: UnsafeMutableRawPointer, _ rect: PixelRect, plan: inout GrabPlan) {
    let rowBytes = rect.width * 4
    let stride = layout.bytesPerRow(rect.width)
    var band = PixelRect(x: rect.x, y: rect.y, width: rect.width, height: 0)
    var (all, fits) = (band, true)
    for row in 0..<rect.height {
      let new = layout.isDirect ? UnsafeRawPointer(pixels + row * stride) : unpacked(pixels + row * stride, rect.width)
      let old = base + (rect.y + row) * bytesPerRow + rect.x * 4
      guard memcmp(old, new, rowBytes) != 0 else { continue }
      memcpy(old, new, rowBytes)
      let line = PixelRect(x: rect.x, y: rect.y + row, width: rect.width, height: 1)
      all = all.union(line)
      if band.isEmpty || band.maxY == line.y {
        band = band.union(line)
      } else {
        fits = fits && plan.append(band)
        band = line
      }
    }
    if !band.isEmpty { fits = fits && plan.append(band) }
    if !fits { plan.set(all) }
  }

  private func unpacked(_ pixels: UnsafeMutableRawPointer, _ width: Int) -> UnsafeRawPointer {
    layout.unpack(
      pixels, size: PixelSize(width: width, height: 1), to: line, targetStride: bytesPerRow, palette: palette)
    return UnsafeRawPointer(line)
  }

  /// The offset at which `rect` can be written without touching other pixels; nil when it is narrower than the picture,
  /// or its pixels have to be converted.
  private func place(of rect: PixelRect) -> Int? {
    layout.isDirect && rect.width == size.width ? rect.y * bytesPerRow : nil
  }

  private func request(
    _ rect: PixelRect, of drawable: xcb_drawable_t, origin: (x: Int, y: Int), offset: Int
  ) -> UInt32 {
    let sequence = send(rect, of: drawable, origin: origin, offset: offset)
    sequences[GrabPlan.mostRects] = sequence
    return sequence
  }

  private func send(
    _ rect: PixelRect, of drawable: xcb_drawable_t, origin: (x: Int, y: Int), offset: Int
  ) -> UInt32 {
    let (x, y) = (Int16(clamping: origin.x + rect.x), Int16(clamping: origin.y + rect.y))
    let (width, height) = (UInt16(clamping: rect.width), UInt16(clamping: rect.height))
    let format = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
    if isShared {
      return xcb_shm_get_image(
        connection.handle, drawable, x, y, width, height, ~0, format, segment, UInt32(offset)
      ).sequence
    }
    return xcb_get_image(connection.handle, format, drawable, x, y, width, height, ~0).sequence
  }

  /// Takes one reply; `body` is given the pixels, row after row, unless they are in their place already.
  private func receive(
    _ sequence: UInt32, _ rect: PixelRect, offset: Int, inPlace: Bool = true,
    _ body: (UnsafeMutableRawPointer) -> Void
  ) -> Bool {
    if isShared {
      let cookie = xcb_shm_get_image_cookie_t(sequence: sequence)
      guard XReply(xcb_shm_get_image_reply(connection.handle, cookie, nil)) != nil else { return false }
      if !inPlace || place(of: rect) == nil { body(base + offset) }
      return true
    }
    let cookie = xcb_get_image_cookie_t(sequence: sequence)
    guard let reply = XReply(xcb_get_image_reply(connection.handle, cookie, nil)) else { return false }
    return reply.read { image in
      guard xcb_get_image_data_length(image) >= layout.bytesPerRow(rect.width) * rect.height,
        let pixels = xcb_get_image_data(image)
      else { return false }
      body(pixels)
      return true
    }
  }

  private func copy(_ pixels: UnsafeMutableRawPointer, to rect: PixelRect) {
    let start = base + rect.y * bytesPerRow + rect.x * 4
    layout.unpack(pixels, size: rect.size, to: start, targetStride: bytesPerRow, palette: palette)
  }

  /// Draws premultiplied pixels over what is at `rect`.
  private func blend(_ pixels: UnsafeMutableRawPointer, over rect: PixelRect) {
    let below = (base + rect.y * bytesPerRow + rect.x * 4).assumingMemoryBound(to: UInt8.self)
    let (stride, width, height) = (Int32(bytesPerRow), Int32(rect.width), Int32(rect.height))
    _ = ARGBBlend(
      pixels.assumingMemoryBound(to: UInt8.self), width * 4, below, stride, below, stride, width, height)
  }

  /// Reads the cells of `colormap` again, when pixels are their numbers.
  /// - Returns: whether one has another colour.
  func refreshPalette(_ colormap: xcb_colormap_t) -> Bool {
    guard layout.isIndexed else { return false }
    let numbers = (0..<UInt32(Self.cells)).map { $0 }
    let cookie = xcb_query_colors(connection.handle, colormap, UInt32(numbers.count), numbers)
    guard let reply = XReply(xcb_query_colors_reply(connection.handle, cookie, nil)) else { return false }
    return reply.read { reply in
      guard let colors = xcb_query_colors_colors(reply) else { return false }
      var isNew = false
      for index in 0..<min(Self.cells, Int(xcb_query_colors_colors_length(reply))) {
        let color = colors[index]
        // Sixteen bits a channel, of which the upper eight are shown.
        let value = UInt32(color.red >> 8) << 16 | UInt32(color.green >> 8) << 8 | UInt32(color.blue >> 8)
        isNew = isNew || palette[index] != value
        palette[index] = value
      }
      return isNew
    }
  }
}
