import CRPC

/// A closure that runs at the end of each turn in which `request` was called, before the loop writes to its connections.
/// Loop thread only.
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

    /// Has the closure run once at the end of this turn, or of the next turn if the hooks are running now.
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
