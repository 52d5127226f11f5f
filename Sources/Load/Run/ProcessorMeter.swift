import Glibc
import RPCTransport

/// Measures the processor time of this process.
struct ProcessorMeter: Sendable {
    private let wall: ContinuousClock.Instant
    private let processNanoseconds: UInt64
    private let threadNanoseconds: [UInt64]

    /// Starts to measure the process and the threads of the loops.
    init(_ loops: [EventLoop]) async {
        wall = .now
        processNanoseconds = Self.read(CLOCK_PROCESS_CPUTIME_ID)
        threadNanoseconds = await Self.threads(loops)
    }

    /// The use since the start.
    ///
    /// - Parameter otherThreads: threads that make calls beside the loops; their use counts as spread evenly.
    func share(_ loops: [EventLoop], otherThreads: Int) async -> ProcessorShare {
        let elapsed = max((ContinuousClock.now - wall) / .nanoseconds(1), 1)
        let process = Double(Self.read(CLOCK_PROCESS_CPUTIME_ID) - processNanoseconds) / elapsed
        let threads = zip(await Self.threads(loops), threadNanoseconds).map { Double($0 - $1) / elapsed }
        let others = otherThreads == 0 ? 0 : (process - threads.reduce(0, +)) / Double(otherThreads)
        return ProcessorShare(
            cores: process,
            busiestThread: min(max(threads.max() ?? 0, others), 1),
            machineCores: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        )
    }

    private static func threads(_ loops: [EventLoop]) async -> [UInt64] {
        var times: [UInt64] = []
        for loop in loops {
            // A loop that has ended uses no more.
            times.append((try? await loop.run { read(CLOCK_THREAD_CPUTIME_ID) }) ?? 0)
        }
        return times
    }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
