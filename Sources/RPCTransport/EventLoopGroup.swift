import Synchronization

/// The event loops of a process, usually one for each core. They share nothing.
///
/// `shutdown` ends the loops and waits for their end; `withEventLoopGroup` does that for you. A group that nobody holds any
/// more ends its loops as well, but nobody learns when.
public final class EventLoopGroup: Sendable {
    /// The loops.
    public let loops: [EventLoop]
    private let turn = Atomic<Int>(0)

    /// Starts that many loops, at least one. Throws `TransportError` if the system has no room for them.
    public init(loopCount: Int, name: String) throws {
        var loops: [EventLoop] = []
        do {
            for index in 0..<max(1, loopCount) { loops.append(try EventLoop(index: index, name: name)) }
        } catch {
            for loop in loops { loop.stop() }
            throw error
        }
        self.loops = loops
    }

    // Waits for nobody: this may be the thread of a loop, or hold what a loop waits for.
    deinit { for loop in loops { loop.stop() } }

    /// The loop of the current thread, if it belongs to this group. Otherwise the loops in turn. Any thread.
    public func next() -> EventLoop {
        if let current = EventLoop.current, contains(current) { return current }
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return loops[Int(UInt(bitPattern: turn) % UInt(loops.count))]
    }

    /// Whether a loop is of this group.
    public func contains(_ loop: EventLoop) -> Bool {
        loop.index < loops.count && loops[loop.index] === loop
    }

    /// Stops all loops and returns when they have ended. Any thread.
    ///
    /// Channels, servers and database clients that are still open on them are closed. What they are doing fails, and so does
    /// everything that is asked of them later. Timers and file watches on the loops fire no more.
    public func shutdown() async {
        for loop in loops { loop.stop() }
        for loop in loops { await loop.waitForEnd() }
    }
}

/// Runs a closure with event loops, which have ended when this returns or throws. What is still open on them is closed then:
/// see `EventLoopGroup.shutdown`.
///
/// Throws `TransportError` if the system has no room for the loops, and what the closure throws.
public nonisolated(nonsending) func withEventLoopGroup<Result>(
    loopCount: Int,
    name: String,
    _ body: (EventLoopGroup) async throws -> Result
) async throws -> Result {
    let group = try EventLoopGroup(loopCount: loopCount, name: name)
    do {
        let result = try await body(group)
        await group.shutdown()
        return result
    } catch {
        await group.shutdown()
        throw error
    }
}
