internal import CPulse

/// What a sound server has told of: which of its lists have changed.
struct PulseNews {
  /// The default devices.
  var defaults = false
  /// The outputs and inputs, or what is known of them.
  var devices = false
  /// What the applications play.
  var streams = false

  /// Whether anything has changed.
  var isAny: Bool { defaults || devices || streams }

  /// Has the server of `context` tell of changes; they are noted in `news`, which has to outlive the context.
  static func subscribe(_ context: OpaquePointer, _ news: UnsafeMutablePointer<PulseNews>) {
    pa_context_set_subscribe_callback(
      context,
      { _, event, _, news in
        guard let news = news?.assumingMemoryBound(to: PulseNews.self) else { return }
        switch event.rawValue & PA_SUBSCRIPTION_EVENT_FACILITY_MASK.rawValue {
        case PA_SUBSCRIPTION_EVENT_SERVER.rawValue: news.pointee.defaults = true
        case PA_SUBSCRIPTION_EVENT_SINK_INPUT.rawValue: news.pointee.streams = true
        default: news.pointee.devices = true
        }
      }, news)
    let lists =
      PA_SUBSCRIPTION_MASK_SERVER.rawValue | PA_SUBSCRIPTION_MASK_SINK.rawValue
      | PA_SUBSCRIPTION_MASK_SOURCE.rawValue | PA_SUBSCRIPTION_MASK_SINK_INPUT.rawValue
    if let operation = pa_context_subscribe(context, pa_subscription_mask_t(rawValue: lists), nil, nil) {
      pa_operation_unref(operation)
    }
  }
}
