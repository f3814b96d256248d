internal import CFFmpeg
import Glibc
package import SessionModel

/// What a container says of one stream: codec, size, colours and the codec's own header. Immutable.
package final class StreamDescription: Sendable {
  // Safe to share: written only in `init`, before anyone else has the object, and freed in `deinit`, after everyone.
  nonisolated(unsafe) let parameters: UnsafeMutablePointer<AVCodecParameters>
  /// The ticks of the encoder, or of the container that was read.
  let timeBase: AVRational

  /// Copies what an opened encoder says of its stream.
  init(encoder: UnsafeMutablePointer<AVCodecContext>) throws(RecorderError) {
    guard let parameters = avcodec_parameters_alloc() else { throw outOfMemory("a stream's description") }
    self.parameters = parameters
    timeBase = encoder.pointee.time_base
    guard avcodec_parameters_from_context(parameters, encoder) >= 0 else {
      throw outOfMemory("a stream's description")
    }
  }

  /// Copies what a container says of its stream.
  init(stream: UnsafeMutablePointer<AVStream>) throws(RecorderError) {
    guard let parameters = avcodec_parameters_alloc() else { throw outOfMemory("a stream's description") }
    self.parameters = parameters
    timeBase = stream.pointee.time_base
    guard avcodec_parameters_copy(parameters, stream.pointee.codecpar) >= 0 else {
      throw outOfMemory("a stream's description")
    }
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecParameters>? = parameters
    avcodec_parameters_free(&pointer)
  }

  /// What the stream carries.
  package enum Kind: Hashable, Sendable { case video, audio, other }

  /// Picture, sound, or something this program does not read.
  package var kind: Kind {
    switch parameters.pointee.codec_type {
    case AVMEDIA_TYPE_VIDEO: .video
    case AVMEDIA_TYPE_AUDIO: .audio
    default: .other
    }
  }
  /// FFmpeg's name of the codec: `h264`, `aac`.
  package var codecName: String { String(cString: avcodec_get_name(parameters.pointee.codec_id)) }
  /// Video: the encoded size in pixels; 0x0 for sound.
  package var size: PixelSize {
    PixelSize(width: Int(parameters.pointee.width), height: Int(parameters.pointee.height))
  }
  /// Sound: samples a second of each channel, in Hz; 0 for video.
  package var sampleRate: Int { Int(parameters.pointee.sample_rate) }
  /// Sound: how many channels; 0 for video.
  package var channels: Int { Int(parameters.pointee.ch_layout.nb_channels) }
  /// Sound: frames that the encoder puts before the first real one; their times are before the first sample's.
  package var initialPadding: Int { Int(parameters.pointee.initial_padding) }

  /// Whether packets of `other` can follow this stream's in one stream of a file: codec, shape and the codec's own
  /// header are equal.
  package func continues(as other: StreamDescription) -> Bool {
    let (mine, others) = (parameters.pointee, other.parameters.pointee)
    guard mine.codec_id == others.codec_id, size == other.size, sampleRate == other.sampleRate,
      channels == other.channels, mine.extradata_size == others.extradata_size
    else { return false }
    guard mine.extradata_size > 0, let header = mine.extradata, let otherHeader = others.extradata else { return true }
    return memcmp(header, otherHeader, Int(mine.extradata_size)) == 0
  }
}
