import CRPC

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
    /// Makes a hook. Loop thread; the hook must also be let go there.
    public func makeTurnHook(_ body: @escaping () -> Void) -> TurnHook {
        preconditionIsCurrent()
        return TurnHook(loop: self, body)
    }
}
