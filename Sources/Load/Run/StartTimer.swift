import CTimerFD
import Glibc
import RPCTransport

/// Wakes a loop at a given time, to the microsecond. The loop's own timers have a resolution of a millisecond, which would be
/// visible in latencies that count from the intended start. Loop thread only.
final class StartTimer {
    private let descriptor: Int32
    private var watch: FileWatch?

    /// A timer that is not set. Throws `TransportError` or `LoadError` if the system fails.
    init(_ loop: EventLoop, _ body: @escaping () -> Void) throws {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard descriptor >= 0 else { throw LoadError("no timer: \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
        do {
            watch = try loop.watch(fileDescriptor: descriptor, interest: .readable) { _ in
                var expirations: UInt64 = 0
                // Clears its readable state; fails if it was set again meanwhile.
                _ = read(descriptor, &expirations, MemoryLayout<UInt64>.size)
                body()
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    deinit {
        watch?.cancel()
        close(descriptor)
    }

    /// Sets it to a time of the monotonic clock, replacing the previous time. It fires immediately if that time has passed.
    func set(nanoseconds: UInt64) {
        var time = itimerspec()
        time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
        time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        let result = timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
        precondition(result == 0, "the timer accepts all times after the machine's start")
    }
}
