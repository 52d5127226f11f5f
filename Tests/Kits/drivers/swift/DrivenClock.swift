import Foundation
import VestibuleClient

/// Clocks that a script sets.
// What changes is guarded by `lock`.
final class DrivenClock: @unchecked Sendable {
    private let lock = NSLock()
    private let start = ContinuousClock.now
    private var offsetSeconds: Double
    private var elapsedSeconds = 0.0

    init(offsetSeconds: Double) { self.offsetSeconds = offsetSeconds }

    func set(offsetSeconds: Double, elapsedSeconds: Double) {
        lock.withLock { (self.offsetSeconds, self.elapsedSeconds) = (offsetSeconds, elapsedSeconds) }
    }

    var clock: TokenClock {
        TokenClock(
            wall: { [self] in Int64((Date().timeIntervalSince1970 + lock.withLock { offsetSeconds }) * 1000) },
            elapsed: { [self] in ContinuousClock.now - start + .seconds(lock.withLock { elapsedSeconds }) }
        )
    }
}
