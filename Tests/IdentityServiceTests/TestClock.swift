import Models
import Synchronization

/// A clock that stands still until a test moves it.
final class TestClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_800_000_000_000)

    var nowMilliseconds: Int64 { milliseconds.withLock { $0 } }
    var nowSeconds: Int64 { nowMilliseconds / 1000 }

    func advance(seconds: Int64) {
        milliseconds.withLock { $0 += seconds * 1000 }
    }

    var wallClock: WallClock { WallClock { self.nowMilliseconds } }

    /// The same time, for what is measured by a clock that nobody sets.
    var monotonicNanoseconds: @Sendable () -> UInt64 { { UInt64(self.nowMilliseconds) * 1_000_000 } }
}
