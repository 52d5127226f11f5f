package vestibule

import kotlin.time.Duration
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch

/** Ends at the server the sessions that have ended here: one round at a time, within one deadline. */
internal class PendingSignOuts(
    private val records: SessionRecords,
    private val server: SessionServer,
    private val scope: CoroutineScope,
    private val deadline: Duration,
) {
    private val mutable = Any()
    private var round: Job? = null
    private var pauses = 0
    private var isStarted = false

    /** Whether more may have come since the list was read. */
    private var isAsked = false

    /** After the record was read. What waits since before this start is sent. */
    fun start() {
        if (!synchronized(mutable) { isStarted.also { isStarted = true } }) send()
    }

    /** Begins a round if there is something to send; returns the one that runs. */
    fun send(): Job? = synchronized(mutable) {
        if (!records.hasSignOuts || pauses > 0) return null
        isAsked = true
        round?.takeIf { it.isActive } ?: scope.launch { sendRound() }.also { round = it }
    }

    /** Returns when all were sent, or the server can't be reached. */
    suspend fun sendAll() {
        send()?.join()
    }

    /** Runs [action] while nothing is sent. */
    suspend fun <T> paused(action: suspend () -> T): T {
        val running = synchronized(mutable) {
            pauses++
            round
        }
        try {
            running?.cancelAndJoin()
            return action()
        } finally {
            synchronized(mutable) { pauses-- }
            send()
        }
    }

    private suspend fun sendRound() {
        val end = Deadline(deadline)
        val tried = HashSet<PendingSignOut>()
        try {
            while (true) {
                synchronized(mutable) { isAsked = false }
                val next = (records.read().signOuts - tried).firstOrNull()
                if (next == null) {
                    if (isOver()) return
                    continue
                }
                tried += next
                val isEnded = isEnded(next, end) ?: return
                if (isEnded) records.locked { records.write(it.copy(signOuts = it.signOuts - next)) }
            }
        } catch (_: VestibuleException) {
            // The store: they stay.
        }
    }

    /** Whether nothing has come while the list was read. The next one begins a round. */
    private fun isOver(): Boolean = synchronized(mutable) { !isAsked.also { if (!it) round = null } }

    /** Whether the server has ended it or never will; null if it can't be reached. */
    private suspend fun isEnded(session: PendingSignOut, end: Deadline): Boolean? = try {
        withDeadline(end.left) { server.signOut(session, it) }
        true
    } catch (error: VestibuleException) {
        if (error.status == null) null else error.isOfServer && error.status in 400..499 && error.status != 429
    }
}
