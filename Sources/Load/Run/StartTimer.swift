import CTimerFD
import Glibc
import RPCTransport

/// Wakes a loop at a moment, to the microsecond: the loop's own timers are as fine as a millisecond, which a latency
/// that counts from the intended start would show. Loop thread only.
final class StartTimer {
    private let descriptor: Int32
    private var watch: FileWatch?

    /// A timer that is not set. Throws `TransportError` or `LoadError` if the system refuses.
    init(_ loop: EventLoop, _ body: @escaping () -> Void) throws {
        let descriptor = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_NONBLOCK | TFD_CLOEXEC))
        guard descriptor >= 0 else { throw LoadError("no timer: \(String(cString: strerror(errno)))") }
        self.descriptor = descriptor
        do {
            watch = try loop.watch(fileDescriptor: descriptor, interest: .readable) { _ in
                var expirations: UInt64 = 0
                // Only to have it readable no more; fails where it was set anew meanwhile.
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

    /// Sets it to a reading of the monotonic clock, in place of what it was set to; at once if that has passed.
    func set(nanoseconds: UInt64) {
        var time = itimerspec()
        time.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
        time.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        let result = timerfd_settime(descriptor, Int32(TFD_TIMER_ABSTIME), &time, nil)
        precondition(result == 0, "a timer of ours takes every moment after the machine's start")
    }
}
