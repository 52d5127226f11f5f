import CRPC
import RPC

/// A closure that runs once, at its time. Loop thread only.
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

    /// Cancels the timer. Does nothing if it has fired.
    public func cancel() {
        guard let handle else { return }
        loop.preconditionIsCurrent()
        self.handle = nil
        body = nil
        crpc_timer_free(handle)
        loop.timers[ObjectIdentifier(self)] = nil
    }
}

extension EventLoop {
    /// Runs a closure once, `after` the start of this turn. The loop keeps the timer until it fires. Loop thread.
    @discardableResult
    public func schedule(after: Duration, _ body: @escaping () -> Void) -> LoopTimer {
        preconditionIsCurrent()
        return LoopTimer(loop: self, after: after, body)
    }
}
