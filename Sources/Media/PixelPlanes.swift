internal import CFFmpeg
internal import CYUV
internal import SessionModel

/// Where the pixels of a picture are: a view, valid as long as the picture that it was made from.
///
/// Y, U and V, or one plane of BGRX. libyuv's "ARGB" is B, G, R, A in memory: what X11 delivers.
struct PixelPlanes {
  let format: PixelFormat
  /// Y, or BGRX.
  private let first: UnsafeMutablePointer<UInt8>
  private let second: UnsafeMutablePointer<UInt8>
  private let third: UnsafeMutablePointer<UInt8>
  private let firstStride: Int32
  private let chromaStride: Int32

  /// The planes of `frame`; nil when it is in none of the formats that this program encodes.
  init?(_ frame: UnsafeMutablePointer<AVFrame>) {
    guard let format = PixelFormat(frame.pointee.format), let first = frame.pointee.data.0 else { return nil }
    self.init(
      format: format, first: first, second: frame.pointee.data.1 ?? first, third: frame.pointee.data.2 ?? first,
      firstStride: frame.pointee.linesize.0, chromaStride: frame.pointee.linesize.1)
  }

  private init(
    format: PixelFormat, first: UnsafeMutablePointer<UInt8>, second: UnsafeMutablePointer<UInt8>,
    third: UnsafeMutablePointer<UInt8>, firstStride: Int32, chromaStride: Int32
  ) {
    (self.format, self.first, self.second, self.third) = (format, first, second, third)
    (self.firstStride, self.chromaStride) = (firstStride, chromaStride)
  }

  /// The same planes from the pixel (`x`, `y`) on; both even when chroma is halved.
  func at(x: Int, y: Int) -> PixelPlanes {
    let bytes = format == .bgr0 ? 4 : 1
    let chroma = chromaSize(PixelSize(width: x, height: y))
    let offset = chroma.height * Int(chromaStride) + chroma.width
    return PixelPlanes(
      format: format, first: first + y * Int(firstStride) + x * bytes, second: second + offset, third: third + offset,
      firstStride: firstStride, chromaStride: chromaStride)
  }

  /// Chroma samples that `size` pixels have; none in BGRX.
  private func chromaSize(_ size: PixelSize) -> PixelSize {
    switch format {
    case .yuv420p: PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
    case .yuv444p: size
    case .bgr0: PixelSize(width: 0, height: 0)
    }
  }

  /// Converts `size` pixels of BGRX at `pixels` to here: BT.601, limited range, chroma averaged over each 2x2 block.
  func convert(from pixels: UnsafePointer<UInt8>, bytesPerRow: Int, size: PixelSize) {
    let (stride, width, height) = (Int32(bytesPerRow), Int32(size.width), Int32(size.height))
    switch format {
    case .yuv420p:
      ARGBToI420(
        pixels, stride, first, firstStride, second, chromaStride, third, chromaStride, width, height)
    case .yuv444p:
      ARGBToI444(
        pixels, stride, first, firstStride, second, chromaStride, third, chromaStride, width, height)
    case .bgr0: ARGBCopy(pixels, stride, first, firstStride, width, height)
    }
  }

  /// Copies `size` pixels to `other`, which has the same format.
  func copy(to other: PixelPlanes, size: PixelSize) {
    let chroma = chromaSize(size)
    let rowBytes = Int32(size.width * (format == .bgr0 ? 4 : 1))
    CopyPlane(first, firstStride, other.first, other.firstStride, rowBytes, Int32(size.height))
    guard chroma.area > 0 else { return }
    let (width, height) = (Int32(chroma.width), Int32(chroma.height))
    CopyPlane(second, chromaStride, other.second, other.chromaStride, width, height)
    CopyPlane(third, chromaStride, other.third, other.chromaStride, width, height)
  }

  /// Scales `size` pixels to `target` pixels of `other`, which has the same format, each pixel the mean of those it
  /// covers.
  func scale(_ size: PixelSize, to target: PixelSize, of other: PixelPlanes) {
    func plane(
      _ source: UnsafePointer<UInt8>, _ stride: Int32, _ size: PixelSize, _ destination: UnsafeMutablePointer<UInt8>,
      _ destinationStride: Int32, _ target: PixelSize
    ) {
      ScalePlane(
        source, stride, Int32(size.width), Int32(size.height), destination, destinationStride, Int32(target.width),
        Int32(target.height), kFilterBox)
    }
    if format == .bgr0 {
      _ = ARGBScale(
        first, firstStride, Int32(size.width), Int32(size.height), other.first, other.firstStride,
        Int32(target.width), Int32(target.height), kFilterBox)
      return
    }
    let (from, to) = (chromaSize(size), chromaSize(target))
    plane(first, firstStride, size, other.first, other.firstStride, target)
    plane(second, chromaStride, from, other.second, other.chromaStride, to)
    plane(third, chromaStride, from, other.third, other.chromaStride, to)
  }

  /// Makes `size` pixels black: luma 16 and chroma 128 are BT.601's in limited range.
  func fillBlack(_ size: PixelSize) {
    let (width, height, chroma) = (Int32(size.width), Int32(size.height), chromaSize(size))
    if format == .bgr0 {
      ARGBRect(first, firstStride, 0, 0, width, height, 0)
      return
    }
    SetPlane(first, firstStride, width, height, 16)
    SetPlane(second, chromaStride, Int32(chroma.width), Int32(chroma.height), 128)
    SetPlane(third, chromaStride, Int32(chroma.width), Int32(chroma.height), 128)
  }

  /// Repeats the last column and the last row of `size` pixels up to `padded` pixels, so that the padding costs the
  /// encoder nothing and bleeds no foreign colour into the chroma of the edge.
  func repeatEdge(of size: PixelSize, to padded: PixelSize) {
    guard size != padded else { return }
    Self.repeatEdge(first, firstStride, size, padded, bytes: format == .bgr0 ? 4 : 1)
    guard format != .bgr0 else { return }
    Self.repeatEdge(second, chromaStride, chromaSize(size), chromaSize(padded), bytes: 1)
    Self.repeatEdge(third, chromaStride, chromaSize(size), chromaSize(padded), bytes: 1)
  }

  private static func repeatEdge(
    _ plane: UnsafeMutablePointer<UInt8>, _ stride: Int32, _ size: PixelSize, _ padded: PixelSize, bytes: Int
  ) {
    let stride = Int(stride)
    if padded.width > size.width {
      for y in 0..<size.height {
        let row = plane + y * stride
        for x in size.width * bytes..<padded.width * bytes { row[x] = row[x - bytes] }
      }
    }
    let last = plane + (size.height - 1) * stride
    for y in size.height..<max(size.height, padded.height) {
      (plane + y * stride).update(from: last, count: padded.width * bytes)
    }
  }
}

extension PixelFormat {
  /// FFmpeg's number of the format.
  var ffmpeg: AVPixelFormat {
    switch self {
    case .yuv420p: AV_PIX_FMT_YUV420P
    case .yuv444p: AV_PIX_FMT_YUV444P
    case .bgr0: AV_PIX_FMT_BGR0
    }
  }

  /// The format that has FFmpeg's number `raw`; nil when it is none of these.
  init?(_ raw: Int32) {
    switch raw {
    case AV_PIX_FMT_YUV420P.rawValue: self = .yuv420p
    case AV_PIX_FMT_YUV444P.rawValue: self = .yuv444p
    case AV_PIX_FMT_BGR0.rawValue: self = .bgr0
    default: return nil
    }
  }
}
