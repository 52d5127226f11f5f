@testable import Console

extension ConsoleTime {
    /// A moment of clocks that were never set.
    static func at(_ seconds: Int64) -> ConsoleTime { ConsoleTime(wallSeconds: seconds, runSeconds: seconds) }
}
