package vestibule

import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/**
 * Pauses between tries that double, with full jitter: clients that failed at the same moment don't come back at the same moment.
 *
 * @param factor multiplies each pause; tests shorten them.
 */
internal class Backoff(private val first: Duration, private val longest: Duration, private val factor: Double) {
    private var next = first

    /** The next pause, at least as long as the server asks for, within bounds. */
    fun pause(retryAfter: Duration?): Duration {
        val pause = maxOf(next * Random.nextDouble() * factor, bounded(retryAfter ?: Duration.ZERO, factor))
        next = minOf(next * 2, longest)
        return pause
    }

    /** Begins again with the first pause. */
    fun reset() {
        next = first
    }

    companion object {
        /** How often a call is tried. */
        const val TRIES_MAX: Int = 3

        /** Something on the way may ask for a day. */
        private val RETRY_AFTER_MAX = 60.seconds

        /** How long the kit itself waits when the server asks it to. */
        fun bounded(retryAfter: Duration, factor: Double): Duration = minOf(retryAfter, RETRY_AFTER_MAX) * factor

        /** Between the tries of a call. */
        fun ofCalls(factor: Double): Backoff = Backoff(200.milliseconds, 5.seconds, factor)

        /** Between the streams of events. */
        fun ofStreams(factor: Double): Backoff = Backoff(500.milliseconds, 30.seconds, factor)
    }
}
