internal import CFFmpeg
package import SessionModel

/// Which of FFmpeg's encoders there are, and whether the ones that a recording takes by default work.
package enum EncoderCheckup {
  /// Looks for them.
  package static func findings() -> [Finding] {
    _ = ffmpegIsSilent
    return [picture(lossless: false), picture(lossless: true), others("video", video), sound, others("sound", audio)]
  }

  /// Encoders of pictures and of sound that a person may ask for, beside the default ones.
  private static let video = ["libx265", "libvpx-vp9", "libaom-av1", "mpeg4", "ffv1"]
  private static let audio = ["libopus", "flac", "pcm_s16le"]

  private static func isThere(_ name: String) -> Bool { avcodec_find_encoder_by_name(name) != nil }

  /// Opens the default encoder, as a recording does.
  private static func picture(lossless: Bool) -> Finding {
    var options = VideoOptions()
    options.lossless = lossless
    let settings = VideoEncoderSettings(options, picture: PixelSize(width: 64, height: 64))
    do throws(RecorderError) {
      _ = try VideoEncoder(settings)
    } catch {
      // Another encoder can be asked for; without the default one a person who asks for nothing gets nothing.
      return Finding(
        .encoders, settings.codec, lossless ? .note : .problem, error.message,
        remedy: "Install an FFmpeg with x264: apt-get install libavcodec59.")
    }
    return Finding(
      .encoders, settings.codec, .fine,
      lossless ? "Lossless recordings are encoded by it." : "Pictures are encoded by it.")
  }

  private static var sound: Finding {
    isThere("aac")
      ? Finding(.encoders, "aac", .fine, "Sound is encoded by it.")
      : Finding(
        .encoders, "aac", .note, "FFmpeg has no encoder of AAC here: sound needs --audio-codec.",
        remedy: "Install libavcodec59, or record with --audio-codec flac.")
  }

  private static func others(_ what: String, _ names: [String]) -> Finding {
    let (present, missing) = (names.filter(isThere), names.filter { !isThere($0) })
    let text = present.isEmpty ? "There are no others." : "There are \(present.joined(separator: ", "))."
    return Finding(
      .encoders, "other \(what)", missing.isEmpty ? .fine : .note,
      missing.isEmpty ? text : "\(text) There is no \(missing.joined(separator: ", ")).",
      remedy: missing.isEmpty ? nil : "Install the package libavcodec-extra, should you want one of them.")
  }
}
