import CRPC
import RPC

/// What a file is watched for, and what happened to it.
public struct FileInterest: OptionSet, Sendable {
    /// The bits, those of the C layer.
    public let rawValue: Int32
    /// An interest of those bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// There is something to read, or the end.
    public static let readable = FileInterest(rawValue: Int32(CRPC_READABLE))
    /// Something can be written.
    public static let writable = FileInterest(rawValue: Int32(CRPC_WRITABLE))
    /// Hang-up or error. Reported always.
    public static let failed = FileInterest(rawValue: Int32(CRPC_FAILED))
}

/// A file descriptor watched by a loop, level-triggered. Loop thread only; does not own the descriptor.
public final class FileWatch {
    private let loop: EventLoop
    private let handler: (FileInterest) -> Void
    private var handle: OpaquePointer?

    fileprivate init(
        loop: EventLoop,
        fileDescriptor: Int32,
        interest: FileInterest,
        handler: @escaping (FileInterest) -> Void
    ) throws {
        self.loop = loop
        self.handler = handler
        // Unretained: the watch is freed at the latest with this object.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try TransportError.check(
            crpc_watch_new(
                loop.handle,
                fileDescriptor,
                interest.rawValue,
                { context, ready in
                    guard let context else { return }
                    Unmanaged<FileWatch>.fromOpaque(context).takeUnretainedValue().fire(FileInterest(rawValue: ready))
                },
                context,
                &handle
            ),
            "watching a file"
        )
    }

    private func fire(_ ready: FileInterest) { handler(ready) }

    /// Changes what the file is watched for.
    public func setInterest(_ interest: FileInterest) {
        loop.preconditionIsCurrent()
        // It fails only for a descriptor that was closed under the watch, which is a fault of the caller.
        if let handle { precondition(crpc_watch_set_interest(handle, interest.rawValue) == 0, "the file was closed") }
    }

    /// Ends the watch: the handler never runs again. Before the file is closed.
    public func cancel() {
        guard let handle else { return }
        loop.preconditionIsCurrent()
        self.handle = nil
        crpc_watch_free(handle)
    }

    deinit { cancel() }
}

/// Runs once when its time comes. Loop thread only.
public final class LoopTimer {
    private let loop: EventLoop
    private var body: (() -> Void)?
    private var handle: OpaquePointer?

    fileprivate init(loop: EventLoop, after: Duration, _ body: @escaping () -> Void) {
        self.loop = loop
        guard !loop.isEnding else { return }  // it would never fire
        self.body = body
        // Kept by the loop until it fired or was cancelled, so that a timer need not be kept.
        loop.timers[ObjectIdentifier(self)] = self
        let context = Unmanaged.passUnretained(self).toOpaque()
        let due = loop.nowNanoseconds.addingReportingOverflow(after.wholeNanoseconds)
        let failure = crpc_timer_new(
            loop.handle,
            { context in
                guard let context else { return }
                Unmanaged<LoopTimer>.fromOpaque(context).takeUnretainedValue().fire()
            },
            context,
            &handle
        )
        guard failure == 0, crpc_timer_set(handle, due.overflow ? .max : due.partialValue) == 0 else {
            fatalError("out of memory for a timer")
        }
    }

    private func fire() {
        let body = body
        cancel()  // the last use of the timer, if nobody else keeps it
        body?()
    }

    /// Makes it not run. Nothing happens if it ran.
    public func cancel() {
        guard let handle else { return }
        loop.preconditionIsCurrent()
        self.handle = nil
        body = nil
        crpc_timer_free(handle)
        loop.timers[ObjectIdentifier(self)] = nil
    }
}

/// Runs at the end of each turn in which it was requested, before the connections are flushed. Loop thread only.
public final class TurnHook {
    private let loop: EventLoop
    private let body: () -> Void
    private var handle: OpaquePointer?

    fileprivate init(loop: EventLoop, _ body: @escaping () -> Void) {
        self.loop = loop
        self.body = body
        let failure = crpc_hook_new(
            loop.handle,
            { context in
                guard let context else { return }
                Unmanaged<TurnHook>.fromOpaque(context).takeUnretainedValue().body()
            },
            Unmanaged.passUnretained(self).toOpaque(),
            &handle
        )
        guard failure == 0 else { fatalError("out of memory for a hook") }
    }

    /// Asks for a run at the end of this turn, or of the next one if the hooks are running. Once, however often asked.
    public func request() {
        loop.preconditionIsCurrent()
        crpc_hook_request(handle)
    }

    deinit {
        loop.preconditionIsCurrent()
        crpc_hook_free(handle)
    }
}

extension EventLoop {
    /// Watches a file descriptor. Loop thread. Throws `TransportError` if the system refuses.
    public func watch(
        fileDescriptor: Int32,
        interest: FileInterest,
        handler: @escaping (FileInterest) -> Void
    ) throws -> FileWatch {
        preconditionIsCurrent()
        return try FileWatch(loop: self, fileDescriptor: fileDescriptor, interest: interest, handler: handler)
    }

    /// Runs a closure once, that long after the start of this turn. Loop thread. The timer need not be kept.
    @discardableResult
    public func schedule(after: Duration, _ body: @escaping () -> Void) -> LoopTimer {
        preconditionIsCurrent()
        return LoopTimer(loop: self, after: after, body)
    }

    /// Makes a hook. Loop thread; the hook must also be let go there.
    public func makeTurnHook(_ body: @escaping () -> Void) -> TurnHook {
        preconditionIsCurrent()
        return TurnHook(loop: self, body)
    }
}
