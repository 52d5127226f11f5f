/// A value that only its loop's thread may touch. Any thread may hold and pass on the box; access to the value from
/// another thread stops the program.
public struct LoopBound<Value>: @unchecked Sendable {
    // Sound because every access is checked to be on the loop's thread.

    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }
    private let box: Box
    /// The loop that the value belongs to.
    public let loop: EventLoop

    /// Binds a value to a loop. Any thread, as long as nothing else touches the value from then on.
    public init(_ value: Value, loop: EventLoop) {
        box = Box(value)
        self.loop = loop
    }

    /// The value. Loop thread.
    public var value: Value {
        get {
            loop.preconditionIsCurrent()
            return box.value
        }
        nonmutating set {
            loop.preconditionIsCurrent()
            box.value = newValue
        }
    }
}
