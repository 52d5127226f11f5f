import Foundation

/// A value that a closure sets for the function around it, which waits for the closure.
final class Box<Value: Sendable>: Sendable {
    private let lock = NSLock()
    // Guarded by `lock`.
    nonisolated(unsafe) private var kept: Value

    init(_ value: Value) { kept = value }

    var value: Value {
        get { lock.withLock { kept } }
        set { lock.withLock { kept = newValue } }
    }
}
