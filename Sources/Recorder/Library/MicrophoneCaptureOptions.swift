package import SessionModel

/// Which microphone is recorded while it is switched on.
public struct MicrophoneCaptureOptions: Hashable, Sendable {
  package let device: AudioDeviceSpecification

  package init(_ device: AudioDeviceSpecification) { self.device = device }

  /// The default one, which is followed when the person chooses another.
  public init() { device = .standard }

  /// The device that ``CaptureSources/Microphone/device`` gives.
  /// - Throws: ``CaptureError`` (usage) when `device` names none.
  public init(device: String) throws(CaptureError) {
    self.device = try translated { () throws(RecorderError) in try AudioDeviceSpecification(parsing: device) }
  }
}
