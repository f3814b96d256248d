package import SessionModel

/// Why something that the library was asked for was not done: one sentence, what to do about it, and a code.
public struct CaptureError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What kind of failure it is: the number that `recorder` would exit with.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The number, as the manual of `recorder` lists it.
    public let rawValue: Int32

    /// Makes the code with this number.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    private init(_ code: ExitCode) { rawValue = code.rawValue }

    /// An option or a value was wrong.
    public static let usage = Code(.usage)
    /// The display, the window, a device or an encoder is missing.
    public static let unavailable = Code(.unavailable)
    /// The source was lost while it was recorded; what was recorded is kept.
    public static let sourceLost = Code(.sourceLost)
    /// Writing failed or the disk is full; everything before it is kept.
    public static let writeFailed = Code(.writeFailed)
    /// The recording is just beginning or ending, or its name is taken.
    public static let busy = Code(.busy)
    /// The recording is to be whole, and a part of it failed.
    public static let incomplete = Code(.incomplete)
    /// Something may not be read, written or made.
    public static let permission = Code(.permission)
    /// There is no place for the archive.
    public static let configuration = Code(.configuration)
    /// A system call failed.
    public static let systemCall = Code(.systemCall)
    /// The task that asked was cancelled.
    public static let cancelled = Code(.interruptedTwice)
  }

  /// What every module throws.
  package let cause: RecorderError

  /// Shows `cause` to the embedding program.
  package init(_ cause: RecorderError) { self.cause = cause }

  /// What kind of failure it is.
  public var code: Code { Code(rawValue: cause.code.rawValue) }
  /// One sentence that names what was wrong, fit to be shown.
  public var message: String { cause.message }
  /// What to do about it; nil when the sentence says it already.
  public var hint: String? { cause.hint }
  /// The sentence and, after it, the remedy.
  public var description: String { cause.description }
}

/// Does what throws the package's error, and throws the public one.
func translated<Value>(_ body: () throws(RecorderError) -> Value) throws(CaptureError) -> Value {
  do throws(RecorderError) {
    return try body()
  } catch {
    throw CaptureError(error)
  }
}
