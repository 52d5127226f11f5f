package vestibule

import kotlin.time.Duration
import kotlin.time.TimeSource
import kotlinx.coroutines.withTimeoutOrNull

/** The moment at which a call gives up. */
internal class Deadline(length: Duration) {
    private val end = TimeSource.Monotonic.markNow() + length

    /** What is left; negative after the deadline. */
    val left: Duration get() = -end.elapsedNow()
}

/**
 * Runs [action] for at most [length].
 *
 * @throws VestibuleException with [KitErrorCode.TIMEOUT].
 */
internal suspend fun <T> withDeadline(length: Duration, action: suspend (Deadline) -> T): T {
    // An action may return null.
    val result = withTimeoutOrNull(length) { listOf(action(Deadline(length))) }
    return (result ?: throw VestibuleException.timeout()).first()
}
