import Dispatch
import Synchronization

/// The loops of a process, usually one a core. Nothing is shared between them.
public final class EventLoopGroup: Sendable {
    /// The loops.
    public let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts that many loops, at least one. Throws `TransportError` if the system has no room for them.
    public init(loopCount: Int, name: String) throws {
        loops = try (0..<max(1, loopCount)).map { try EventLoop(index: $0, name: name) }
    }

    /// The current loop if it is of this group, else one after the other. Any thread.
    public func next() -> EventLoop {
        if let current = EventLoop.current, contains(current) { return current }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
    }

    /// Whether a loop is of this group.
    public func contains(_ loop: EventLoop) -> Bool {
        loop.index < loops.count && loops[loop.index] === loop
    }

    /// Stops all loops and waits for their threads. What is on the loops must have been shut down before: jobs and
    /// timers there never run again. Not from one of the loops.
    public func shutdown() async {
        await withCheckedContinuation { continuation in
            // Joining blocks, which tasks of the global executor must not.
            DispatchQueue.global().async { [loops] in
                for loop in loops { loop.stopAndJoin() }
                continuation.resume()
            }
        }
    }
}
