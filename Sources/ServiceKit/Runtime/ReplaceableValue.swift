import RPCTransport
import Synchronization

/// A value that is replaced as a whole while calls go on, such as keys that were read again and what is made of them. Any
/// thread.
///
/// Each event loop keeps a reference of its own and takes the lock only to get another one after a change: a call that begins
/// on a loop takes the value without a lock. Until its next reading a loop keeps the value before alive, so that there are at
/// most as many of them as loops.
public final class ReplaceableValue<Value: AnyObject & Sendable>: Sendable {
    /// A class, so that a change happens in place and not on a copy.
    private final class Kept {
        var generation: Int
        var value: Value

        init(_ value: Value) {
            generation = 0
            self.value = value
        }
    }

    private let value: Mutex<Value>
    private let generationNumber = Atomic<Int>(0)
    private let group: EventLoopGroup
    private let kept: [LoopBound<Kept>]

    /// A value to begin with, for calls on the loops of a group.
    public init(_ value: Value, group: EventLoopGroup) {
        self.value = Mutex(value)
        self.group = group
        kept = group.loops.map { LoopBound(Kept(value), loop: $0) }
    }

    /// The value now. Off the group's loops it takes a lock for a moment.
    public var current: Value {
        guard let loop = EventLoop.current, group.contains(loop) else { return value.withLock { $0 } }
        let kept = kept[loop.index].value
        // Read before the value: one that is newer than the number is read once more at the next call.
        let generation = generation
        if kept.generation != generation {
            kept.value = value.withLock { $0 }
            kept.generation = generation
        }
        return kept.value
    }

    /// Grows each time that the value was replaced: what was made by a value of a smaller one is to be made again. To be read
    /// before the value.
    public var generation: Int { generationNumber.load(ordering: .acquiring) }

    /// Uses another value from now on.
    public func replace(_ new: Value) {
        value.withLock { $0 = new }
        // After it: who sees the number sees the value.
        generationNumber.wrappingAdd(1, ordering: .releasing)
    }
}
