import CCrash
import CRPC
import Dispatch
import Glibc
import RPC

/// A thread that waits for its sockets and timers (epoll) and runs jobs. It is the Swift executor of everything on it.
///
/// It is a `TaskExecutor`: a task that prefers it runs on its thread, and comes back there after each `await`. It is not a
/// `SerialExecutor`, because a job that is isolated to an actor is queued again each time that it returns to a function
/// without isolation. That would be three times for a call with one wait.
///
/// Nothing on a loop may block: that would hold up all its connections. Jobs run in the order in which they were queued,
/// whatever the priority of their tasks.
///
/// A loop ends with its group. Its channels and servers are closed then, and its timers and file watches fire no more.
/// Posted closures, and tasks that prefer the loop, run on another thread from then on, one at a time, so that nobody
/// waits for ever.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Sound because `handle` is a constant, and the functions called on it are those that any thread may call, or are
    // checked to be called on the loop's own thread, as is all that changes here.

    /// The loop's place in its group.
    public let index: Int
    let handle: OpaquePointer
    /// Counts the calls that channels make on this loop; a row for each of `MethodOrdinals`.
    let clientCalls: CallTable
    /// What is closed when the loop ends, by its owner.
    private var open: [ObjectIdentifier: () -> Void] = [:]
    /// The timers that are set. Loop thread.
    var timers: [ObjectIdentifier: LoopTimer] = [:]
    /// Whether the loop is ending or has ended. Timers and file watches fire no more then. Loop thread.
    public private(set) var isEnding = false
    /// Opened when the thread runs nothing more.
    private let end = Latch()
    /// Stands in for the thread once that has ended, and waits till then.
    private let successor: DispatchQueue

    /// Makes a loop and starts its thread, which is named `name` and the index, and keeps the loop until it ends.
    init(index: Int, name: String) throws {
        self.index = index
        clientCalls = try CallTable(rowCount: MethodOrdinals.max)
        var handle: OpaquePointer?
        // The context is set before the thread starts, when `self` is complete.
        let box = LoopBox()
        let context = Unmanaged.passRetained(box)
        let code = crpc_loop_new(runJob, context.toOpaque(), &handle)
        guard code == 0, let handle else {
            context.release()
            try TransportError.check(code, "a loop could not be made")
            throw TransportError.memory
        }
        self.handle = handle
        successor = DispatchQueue(label: "\(name)-\(index)", attributes: .initiallyInactive)
        box.loop = self
        do {
            try startThread(name: "\(name)-\(index)")
        } catch {
            successor.activate()  // a queue may not go before it was active
            throw error
        }
    }

    deinit {
        // Nobody runs it: the thread keeps the loop, and so does whatever its successor runs.
        if let context = crpc_loop_context(handle) { Unmanaged<LoopBox>.fromOpaque(context).release() }
        crpc_loop_free(handle)
    }

    private func startThread(name: String) throws {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        // Nobody joins it: that would block.
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        let start = Unmanaged.passRetained(ThreadStart(loop: self, name: name))
        var thread = pthread_t()
        let failure = pthread_create(&thread, &attributes, runThread, start.toOpaque())
        guard failure == 0 else {
            start.release()
            throw TransportError.system(failure, "a thread could not be started")
        }
    }

    /// Everything that the thread does.
    fileprivate func runUntilStopped() {
        crpc_loop_run(handle)
        crpc_loop_end(handle) { context in
            guard let context else { return }
            Unmanaged<LoopBox>.fromOpaque(context).takeUnretainedValue().loop?.closeAll()
        }
        successor.activate()
        runLate(nil, 0)  // the jobs that are left
        end.open()
    }

    private func closeAll() {
        isEnding = true
        let closing = open.values
        open = [:]
        for close in closing { close() }
        for timer in timers.values { timer.cancel() }
    }

    /// Registers what is to be closed when the loop ends. The loop keeps `close` until then, or until `closed` is called for
    /// the same owner. If the loop is ending already, `close` runs at once. Loop thread.
    public func closeAtEnd(_ owner: AnyObject, _ close: @escaping () -> Void) {
        preconditionIsCurrent()
        if isEnding { close() } else { open[ObjectIdentifier(owner)] = close }
    }

    /// Removes what `closeAtEnd` registered for this owner. Loop thread.
    public func closed(_ owner: AnyObject) {
        preconditionIsCurrent()
        open[ObjectIdentifier(owner)] = nil
    }

    /// Stops after the current turn. Any thread; nothing happens the second time.
    func stop() { crpc_loop_stop(handle) }

    /// Returns when a stopping loop has ended.
    func waitForEnd() async { await end.wait() }

    /// The loop whose thread this is, or nil.
    public static var current: EventLoop? {
        guard let handle = crpc_loop_current(), let context = crpc_loop_context(handle) else { return nil }
        return Unmanaged<LoopBox>.fromOpaque(context).takeUnretainedValue().loop
    }

    /// Whether this is the loop's thread.
    public var isCurrent: Bool { crpc_loop_current() == handle }

    /// Stops the program if this is not the loop's thread.
    @inline(__always)
    public func preconditionIsCurrent() { precondition(isCurrent, "not on the thread of this event loop") }

    /// Queues a job of the concurrency runtime. Any thread.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self)
        if crpc_loop_enqueue(handle, job) != 0 { runLate(nil, UInt(bitPattern: job)) }
    }

    /// Runs a closure on the loop, in a later turn. Any thread. If the loop has ended, the closure runs on the thread that
    /// stands in for the loop's.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        let posted = Unmanaged.passRetained(Posted(body)).toOpaque()
        if crpc_loop_post(handle, runPosted, posted) != 0 { runLate(runPosted, UInt(bitPattern: posted)) }
    }

    /// Runs what comes when the loop has ended: a function with its context, or a job.
    private func runLate(_ function: crpc_function?, _ context: UInt) {
        successor.async { [self] in
            let areJobsLeft = crpc_loop_run_late(handle, function, UnsafeMutableRawPointer(bitPattern: context))
            if areJobsLeft { runLate(nil, 0) }
        }
    }

    /// Runs a closure on the loop and returns its result. Any thread: on the loop's own thread the closure runs at once,
    /// from any other it is posted. Throws what the closure throws, and `TransportError.closed` if the loop has ended.
    public func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        if isCurrent { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            execute { [self] in
                continuation.resume(with: isEnding ? .failure(TransportError.closed) : Result { try body() })
            }
        }
    }

    /// The monotonic clock at the start of this turn, in nanoseconds. Loop thread.
    public var nowNanoseconds: UInt64 { crpc_loop_now_ns(handle) }
}

/// What the C loop holds: the way back to the Swift object, which it does not keep alive.
private final class LoopBox {
    /// Set once, before the thread starts. Weak would cost an atomic operation a job; the loop's thread keeps it, as does
    /// who stands in for that, and only they look here.
    unowned(unsafe) var loop: EventLoop?
}

private final class ThreadStart {
    let loop: EventLoop
    let name: String
    init(loop: EventLoop, name: String) {
        self.loop = loop
        self.name = name
    }
}

private final class Posted {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runPosted(_ context: UnsafeMutableRawPointer?) {
    guard let context else { return }
    Unmanaged<Posted>.fromOpaque(context).takeRetainedValue().body()
}

private func runJob(_ job: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?) {
    guard let job, let context, let loop = Unmanaged<LoopBox>.fromOpaque(context).takeUnretainedValue().loop else {
        return
    }
    unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: loop.asUnownedTaskExecutor())
}

private func runThread(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
    crpc_loop_name_thread(start.name)
    _ = ccrash_thread_began()  // without it an overflow of the stack alone is not reported
    start.loop.runUntilStopped()
    return nil
}
