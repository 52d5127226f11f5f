import CRPC
import RPC
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// One thread with its own epoll, timers, connections and jobs, which is the Swift executor of everything on it.
///
/// As a task executor it brings whatever a task awaits back to its thread. It is no actor's executor: a job that runs
/// isolated to a serial executor is queued anew each time that it returns to a function without isolation, three times
/// for a call with one wait. Nothing on a loop may block: it holds up every call of its connections.
public final class EventLoop: TaskExecutor, @unchecked Sendable {
    // Sound because `handle` is a constant, and the functions called on it are those that any thread may call, or are
    // checked to be called on the loop's own thread. The thread is touched by the group alone, at the end.

    /// The loop's place in its group.
    public let index: Int
    let handle: OpaquePointer
    /// Counts the calls that channels make on this loop; a row for each of `MethodOrdinals`.
    let clientCalls: CallTable
    private let thread = Mutex<pthread_t?>(nil)

    /// Makes a loop and starts its thread, which is named `name` and the index.
    init(index: Int, name: String) throws {
        self.index = index
        clientCalls = try CallTable(rowCount: MethodOrdinals.max)
        var handle: OpaquePointer?
        // The context is set before the thread starts, when `self` is complete.
        let box = LoopBox()
        try TransportError.check(crpc_loop_new(runJob, Unmanaged.passRetained(box).toOpaque(), &handle))
        guard let handle else { throw TransportError.memory }
        self.handle = handle
        box.loop = self
        do {
            try startThread(name: "\(name)-\(index)")
        } catch {
            Unmanaged.passUnretained(box).release()
            crpc_loop_free(handle)
            throw error
        }
    }

    deinit {
        // The group joins the thread before it lets its loops go.
        if let context = crpc_loop_context(handle) { Unmanaged<LoopBox>.fromOpaque(context).release() }
        crpc_loop_free(handle)
    }

    private func startThread(name: String) throws {
        let start = Unmanaged.passRetained(ThreadStart(handle: handle, name: name))
        var thread = pthread_t()
        let failure = pthread_create(&thread, nil, runThread, start.toOpaque())
        guard failure == 0 else {
            start.release()
            throw TransportError.system(failure, "a thread could not be started")
        }
        self.thread.withLock { [thread] in $0 = thread }
    }

    /// Stops after the current turn and waits for the thread to end. Blocks; not on the loop's thread.
    func stopAndJoin() {
        precondition(!isCurrent, "a loop cannot wait for its own end")
        crpc_loop_stop(handle)
        let thread = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let thread { pthread_join(thread, nil) }
    }

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
        crpc_loop_enqueue(handle, unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self))
    }

    /// Runs a closure on the loop, later. Any thread.
    public func execute(_ body: @escaping @Sendable () -> Void) {
        crpc_loop_post(handle, runPosted, Unmanaged.passRetained(Posted(body)).toOpaque())
    }

    /// Runs a closure on the loop and returns what it does. Any thread; on the loop's own it runs at once.
    public func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        if isCurrent { return try body() }
        return try await withCheckedThrowingContinuation { continuation in
            execute { continuation.resume(with: Result { try body() }) }
        }
    }

    /// The monotonic clock as read at the start of this turn, in nanoseconds. Loop thread.
    public var nowNanoseconds: UInt64 { crpc_loop_now_ns(handle) }
}

/// What the C loop holds: the way back to the Swift object, which it does not keep alive.
private final class LoopBox {
    /// Set once, before the thread starts. Weak would cost an atomic operation a job; the group keeps each loop until
    /// its thread has ended, and only that thread looks here.
    unowned(unsafe) var loop: EventLoop?
}

private final class ThreadStart {
    let handle: OpaquePointer
    let name: String
    init(handle: OpaquePointer, name: String) {
        self.handle = handle
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
    crpc_loop_run(start.handle)
    return nil
}
