import Glibc

/// A moment by two clocks: the wall clock, by which providers say when somebody signed in, and one that is never set, which goes on while
/// the machine is suspended.
struct ConsoleTime: Sendable, Hashable {
    /// Unix seconds.
    let wallSeconds: Int64
    /// Seconds since the console started.
    let runSeconds: Int64

    private static let start = ContinuousClock.now

    /// The present.
    static func now() -> ConsoleTime {
        ConsoleTime(wallSeconds: Int64(time(nil)), runSeconds: (ContinuousClock.now - start).components.seconds)
    }

    /// The time since an earlier moment, in seconds, by the clock that counted more of it: one that is set back lengthens nothing.
    func seconds(since earlier: ConsoleTime) -> Int64 {
        max(wallSeconds - earlier.wallSeconds, runSeconds - earlier.runSeconds)
    }

    /// The moment so many seconds before.
    func earlier(bySeconds seconds: Int64) -> ConsoleTime {
        ConsoleTime(wallSeconds: wallSeconds - seconds, runSeconds: runSeconds - seconds)
    }
}
