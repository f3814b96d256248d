import SessionModel
internal import Threading

/// Looks whether a recording has to end: a part of it failed, or one of its limits is reached.
struct EndWatch: Sendable {
  private let tasks: [Task<Void, Never>]

  private static var executor: QueueExecutor { QueueExecutor(label: "end") }

  /// Between two looks at the limits: the size is known twice a second, and a clock that is set is noticed as soon.
  private static let interval = Duration.milliseconds(250)

  /// - Parameters:
  ///   - options: say what the limits are; a time of day is the next one from now on.
  ///   - end: told why, at least once when there is a reason, from any task.
  init(
    of session: RecordingSession, _ options: RecordingOptions,
    end: @escaping @Sendable (Manifest.Reason, RecorderError?) -> Void
  ) {
    var tasks = [
      Task(executorPreference: Self.executor) {
        if let failure = await session.failure() { end(failure.reason, failure.error) }
      }
    ]
    if let duration = options.duration {
      tasks.append(
        Task(executorPreference: Self.executor) {
          try? await Task.sleep(for: .nanoseconds(max(0, duration - session.progress.elapsed)))
          if !Task.isCancelled { end(.duration, nil) }
        })
    }
    let (limits, now) = (options.limits, WallTime.now())
    let until = limits.until?.next(after: now, utcOffset: now.localUTCOffset)
    if until != nil || limits.maximumBytes != nil || limits.idle != nil {
      tasks.append(
        Task(executorPreference: Self.executor) {
          while !Task.isCancelled {
            let progress = session.progress
            if let until, WallTime.now() >= until { return end(.timeOfDay, nil) }
            if let size = limits.maximumBytes, progress.bytes >= size { return end(.sizeLimit, nil) }
            if let idle = limits.idle, let still = progress.still, still >= idle { return end(.idle, nil) }
            try? await Task.sleep(for: Self.interval)
          }
        })
    }
    self.tasks = tasks
  }

  /// Stops looking.
  func cancel() { for task in tasks { task.cancel() } }
}
