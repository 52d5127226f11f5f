import ServiceKit

/// Runs steps one after the other, and prints each with its duration. The first error ends the demo.
struct DemoStory {
    private let console = StackConsole()
    private var number = 0

    /// Runs a step.
    ///
    /// - Parameters:
    ///   - title: a description of the step.
    ///   - body: does the step, and throws an error that names the missed expectation; its result is returned.
    mutating func step<Result>(_ title: String, _ body: () async throws -> Result) async throws -> Result {
        number += 1
        let start = ContinuousClock.now
        do {
            let result = try await body()
            print("ok", title, since: start)
            return result
        } catch {
            print("FAILED", title, since: start)
            throw StackError("step \(number), \(title): \(error)")
        }
    }

    /// The time since a moment, in milliseconds with one decimal.
    static func milliseconds(since start: ContinuousClock.Instant) -> String {
        let tenths = Int((ContinuousClock.now - start) / .microseconds(100))
        return "\(tenths / 10).\(tenths % 10) ms"
    }

    private func print(_ outcome: String, _ title: String, since start: ContinuousClock.Instant) {
        let time = Self.milliseconds(since: start)
        let columns = [(String(number), 2), (time, 10)].map { text, width in
            String(repeating: " ", count: max(0, width - text.count)) + text
        }
        console.say("\(columns[0])  \(columns[1])  \(outcome)  \(title)")
    }
}

/// Throws an error with the expectation if the condition is false.
func expect(_ isSo: Bool, _ expectation: @autoclosure () -> String) throws(StackError) {
    guard isSo else { throw StackError("expected \(expectation())") }
}
