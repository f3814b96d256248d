import SessionModel

/// The head of one element of a Matroska file (RFC 8794, section 4; RFC 9559 for the ids).
struct MatroskaElement {
  /// The ids that are needed to find the end of what was written.
  enum ID {
    static let header: UInt32 = 0x1A45_DFA3
    static let segment: UInt32 = 0x1853_8067
    static let info: UInt32 = 0x1549_A966
    static let timestampScale: UInt32 = 0x2A_D7B1
    static let duration: UInt32 = 0x4489
    static let tracks: UInt32 = 0x1654_AE6B
    static let void: UInt32 = 0xEC
    static let seekHead: UInt32 = 0x114D_9B74
    static let seek: UInt32 = 0x4DBB
    static let seekID: UInt32 = 0x53AB
    static let seekPosition: UInt32 = 0x53AC
    static let cues: UInt32 = 0x1C53_BB6B
    static let cuePoint: UInt32 = 0xBB
    static let cueTime: UInt32 = 0xB3
    static let cueTrackPositions: UInt32 = 0xB7
    static let cueTrack: UInt32 = 0xF7
    static let cueClusterPosition: UInt32 = 0xF1
    static let cluster: UInt32 = 0x1F43_B675
    static let timestamp: UInt32 = 0xE7
    static let simpleBlock: UInt32 = 0xA3
    static let blockGroup: UInt32 = 0xA0
    static let block: UInt32 = 0xA1
    static let blockDuration: UInt32 = 0x9B
    /// What may stand in a segment beside clusters: SeekHead, Info, Tracks, Cues, Tags, Chapters, Attachments, Void,
    /// CRC-32.
    static let inSegment: Set<UInt32> = [
      seekHead, info, tracks, cues, 0x1254_C367, 0x1043_A770, 0x1941_A469, void, 0xBF,
    ]
    /// What may stand in a cluster: Timestamp, SimpleBlock, BlockGroup, SilentTracks, Position, PrevSize,
    /// EncryptedBlock, Void, CRC-32.
    static let inCluster: Set<UInt32> = [timestamp, simpleBlock, blockGroup, 0x5854, 0xA7, 0xAB, 0xAF, void, 0xBF]
  }

  /// The id, with its length marker, as the specification writes it.
  let id: UInt32
  /// Where the size field is and how many bytes it has.
  let sizeOffset: Int64, sizeLength: Int
  /// Where the content begins.
  let content: Int64
  /// Where the content ends; nil when the size is unknown: the element then ends where one begins that cannot be in it.
  let end: Int64?
}

extension FileWindow {
  /// The head of the element at `offset`; nil when there is none or only a part of one.
  mutating func element(at offset: Int64) throws(RecorderError) -> MatroskaElement? {
    // The number of leading zero bits tells how many bytes follow: at most 3 for an id, 7 for a size.
    guard let first = try byte(at: offset), first.leadingZeroBitCount <= 3 else { return nil }
    let idLength = first.leadingZeroBitCount + 1
    let sizeOffset = offset + Int64(idLength)
    guard let id = try number(at: offset, count: idLength), let marker = try byte(at: sizeOffset),
      marker.leadingZeroBitCount <= 7
    else { return nil }
    let sizeLength = marker.leadingZeroBitCount + 1
    guard let field = try number(at: sizeOffset, count: sizeLength) else { return nil }
    let mask = UInt64(1) << UInt64(7 * sizeLength) - 1
    let content = sizeOffset + Int64(sizeLength)
    var end: Int64?
    if field & mask != mask {
      let (sum, overflow) = content.addingReportingOverflow(Int64(field & mask))
      if overflow { return nil }
      end = sum
    }
    return MatroskaElement(
      id: UInt32(id), sizeOffset: sizeOffset, sizeLength: sizeLength, content: content, end: end)
  }
}
