extension UnsafeContinuation {
    /// Whether the task that waits was cancelled. Only while it waits; any thread.
    ///
    /// The loop asks every 10 ms. A cancellation handler would tell sooner, but costs each call 240 ns, and would come from
    /// any thread at any moment, before the wait and after its end too; so nobody but the loop ever ends a wait.
    ///
    /// The cast: an unsafe continuation is a pointer to its task (`RawUnsafeContinuation` is `AsyncTask *` in the runtime's
    /// ABI), and so is an `UnsafeCurrentTask`, which asked the runtime for it. Asking would cost 340 instructions a call.
    /// `UnsafeContinuationTests` fails where it isn't so.
    var isTaskCancelled: Bool { unsafeBitCast(self, to: UnsafeCurrentTask.self).isCancelled }
}
