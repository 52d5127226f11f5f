package vestibule

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.async
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.isActive

/** New tokens of a session, and when they were requested by the monotonic clock. */
internal class IssuedSession(val session: StoredSession, val requestedAt: Long)

/** The requests that a session makes by itself. */
internal interface SessionServer {
    /** Exchanges the refresh token, by one request. */
    suspend fun refresh(session: StoredSession, deadline: Deadline): IssuedSession

    /** Tries something up to three times, as long as what it fails with may pass. */
    suspend fun <T> repeating(deadline: Deadline, attempt: suspend () -> T): T

    /** How long the kit itself waits when the server asks it to. */
    fun pause(retryAfter: Duration): Duration

    /** Ends a session at the server. */
    suspend fun signOut(session: PendingSignOut, deadline: Deadline)
}

/** The access tokens of one call, which belongs to the user for whom it began: what one user began isn't done as another. */
internal class CallTokens(private val current: CurrentSession) {
    private var held: StoredSession? = null
    private var refused: String? = null

    /** Whether there was no token: then the error is that of a refresh, and not of the call. */
    var hasFailed: Boolean = false
        private set

    /** The session of the last token. */
    val session: StoredSession get() = checkNotNull(held) { "no token was needed yet" }

    /** A token that is good for a while: it may have changed since the try before. */
    suspend fun accessToken(): String {
        hasFailed = true
        val next = refused?.let { current.after(it) } ?: current.fresh()
        if (next.userId != (held ?: next).userId) throw VestibuleException.signedOut()
        hasFailed = false
        held = next
        return next.accessToken
    }

    /** The server has refused the last token: the next one is another. */
    fun refuse() {
        refused = session.accessToken
    }
}

/**
 * The session of a client: what is stored, one refresh at a time over all callers and processes, and its end.
 *
 * Each change of the record happens under the store's lock, which is held from reading the record until the new one is written.
 */
internal class CurrentSession(
    private val records: SessionRecords,
    private val clock: Clock,
    private val server: SessionServer,
    private val scope: CoroutineScope,
    private val deadline: Duration,
) {
    private class Refresh(val refreshToken: String, val result: Deferred<StoredSession>)

    private class Receipt(val accessToken: String, val at: Long)

    /** The server has asked to wait before a refresh is sent again. */
    private class Wait(val refreshToken: String, val error: VestibuleException, val until: Long)

    private val mutable = Any()
    private var refresh: Refresh? = null
    private var leaving: Deferred<Unit>? = null
    @Volatile private var receipt: Receipt? = null
    @Volatile private var wait: Wait? = null
    private val pendingSignOuts = PendingSignOuts(records, server, scope, deadline)

    /** The record as it is now. It is read each time, since another process may have written it. */
    suspend fun record(): SessionRecord = records.read().also { pendingSignOuts.start() }

    /**
     * A session whose access token is good for a while.
     *
     * @throws VestibuleException with [KitErrorCode.SIGNED_OUT], [KitErrorCode.STORE_FAILED], or what the refresh failed with.
     */
    suspend fun fresh(): StoredSession {
        var session = current()
        // Another process may have refreshed long ago: then what it wrote is to be refreshed.
        repeat(TAKEN_MAX) {
            if (isFresh(session)) return session
            session = refreshed(session)
        }
        return session
    }

    /** A session with another access token than one that was rejected: another process's, or a refreshed one. */
    suspend fun after(rejected: String): StoredSession {
        val session = current()
        return if (session.accessToken != rejected) fresh() else refreshed(session)
    }

    /** Refreshes whatever the clock says. */
    suspend fun refreshed(): StoredSession = refreshed(current())

    /**
     * Begins with a new session in the place of the present one, which is ended, or kept if it is a guest's and the new one another user's.
     * A guest replaces nobody.
     *
     * @param sent what a provider says once and the server has now.
     * @param replaced the session that was there when this one was requested, if it may only replace one of the same user.
     * @return whether the new session has begun; else it is ended.
     */
    suspend fun adopt(issued: IssuedSession, sent: PendingName? = null, replaced: StoredSession? = null): Boolean {
        val next = issued.session
        val hasBegun = detached {
            records.locked { record ->
                val stored = record.session
                // The same credentials within a minute open the same session, which may also be one that waits for its end.
                val isSame = stored != null && (stored.refreshToken == next.refreshToken || stored.isOf(next))
                val isNeeded = if (next.isGuest) stored == null || isSame else replaced == null || stored?.userId == replaced.userId
                if (!isNeeded) {
                    // Somebody else is signed in by now.
                    records.write(record.ending(next.signOut))
                    return@locked false
                }
                val rest = when {
                    isSame -> record
                    stored != null && stored.isGuest && stored.userId != next.userId -> record.keepingGuest(stored)
                    else -> record.withoutSession()
                }
                records.write(
                    rest.copy(
                        session = next.copy(others = if (isSame) stored?.others.orEmpty() else emptyMap()),
                        endedCode = null,
                        signOuts = rest.signOuts.filter { it.refreshToken != next.refreshToken },
                        pendingName = record.pendingName?.takeUnless { sent != null && it.isOfSamePerson(sent) },
                    ),
                )
                receipt = Receipt(next.accessToken, issued.requestedAt)
                true
            }
        }
        pendingSignOuts.send()
        return hasBegun
    }

    /** What becomes of a guest that was kept is decided. Another one by now stays. */
    suspend fun forget(guest: KeptGuest): Unit = records.locked { if (it.guest == guest) records.write(it.copy(guest = null)) }

    /** The server has what a provider says once. */
    suspend fun forget(sent: PendingName) {
        if (record().pendingName?.isOfSamePerson(sent) != true) return
        records.locked { record ->
            if (record.pendingName?.isOfSamePerson(sent) == true) records.write(record.copy(pendingName = null))
        }
    }

    /** Sends no sign-outs during a sign-in: the session that it opens may be the one that waits for its end. */
    suspend fun <T> signingIn(action: suspend () -> T): T = pendingSignOuts.paused(action)

    /**
     * Ends the session here, in the client's own scope: a caller that is cancelled has ended it. A refresh of this process gives way.
     *
     * @throws VestibuleException with [KitErrorCode.STORE_FAILED], or [KitErrorCode.TIMEOUT] if another process holds the lock.
     */
    suspend fun signOut() {
        val leaving = synchronized(mutable) {
            leaving?.takeIf { it.isActive } ?: scope.async {
                records.locked {
                    if (it.session != null || it.endedCode != null || it.guest != null) records.write(it.withoutUser())
                }
                sendSignOuts()
            }.also {
                leaving = it
                refresh?.result?.cancel()
            }
        }
        awaited(leaving)
    }

    /** Ends at the server what was ended here, or finds that it can't be reached. */
    suspend fun endAll(): Unit = pendingSignOuts.sendAll()

    /** The server has ended the session because the user wanted it. Another session that is stored by now stays. */
    suspend fun ended(session: StoredSession): Unit = detached {
        records.locked { record ->
            val stored = record.session ?: return@locked
            if (stored.accessToken == session.accessToken || stored.isOf(session)) {
                records.write(record.copy(session = null).withoutUser())
            }
        }
    }

    /** The app has the reason for which the session ended. */
    suspend fun acknowledge(code: String): Unit = records.locked {
        if (it.session == null && it.endedCode == code) records.write(it.copy(endedCode = null))
    }

    /** Sends to the server what it still has to end, such as after a call that reached it. */
    fun sendSignOuts() {
        pendingSignOuts.send()
    }

    /**
     * Runs [action] in the client's scope. A caller that is cancelled ends its own wait alone.
     *
     * @throws IllegalStateException if the client is closed.
     */
    suspend fun <T : Any> detached(action: suspend () -> T): T =
        awaited(scope.async { action() }) ?: throw IllegalStateException("the client is closed")

    private suspend fun current(): StoredSession = record().session ?: throw VestibuleException.signedOut()

    private fun isFresh(session: StoredSession): Boolean {
        val now = clock.monotonicMilliseconds()
        val received = receipt?.takeIf { it.accessToken == session.accessToken }
        val elapsed = if (received != null) now - received.at else clock.wallMilliseconds() - session.receivedAt
        val lifetime = session.lifetimeSeconds * 1000
        // After a restart the user's clock counts once; from then on it may be set.
        if (received == null && elapsed in 0..lifetime) receipt = Receipt(session.accessToken, now - elapsed)
        return elapsed >= 0 && lifetime - elapsed >= minOf(LEFT_MILLISECONDS, lifetime / 5)
    }

    // Refreshing

    /** Shares one refresh among all callers. The cancellation of a caller ends its own wait alone. */
    private suspend fun refreshed(session: StoredSession): StoredSession {
        while (true) {
            val running = synchronized(mutable) {
                if (leaving?.isActive == true) null else refresh?.takeIf { it.result.isActive } ?: begin(session.refreshToken)
            }
            if (running?.refreshToken == session.refreshToken) awaited(running.result)?.let { return it }
            // A sign-out comes first, and so does a refresh that is about a token that was replaced meanwhile.
            (synchronized(mutable) { leaving?.takeIf { it.isActive } } ?: running?.result)?.join()
            val next = current()
            if (next.refreshToken != session.refreshToken) return next
        }
    }

    private fun begin(refreshToken: String) = Refresh(refreshToken, scope.async { refresh(refreshToken) }).also { refresh = it }

    private suspend fun refresh(refreshToken: String): StoredSession {
        wait?.takeIf { it.refreshToken == refreshToken && clock.monotonicMilliseconds() < it.until }?.let { throw it.error }
        val end = Deadline(deadline)
        try {
            // The lock is free during a pause, so that others don't wait for a network that fails.
            return server.repeating(end) { records.locked(end.left) { refreshOnce(it, refreshToken, end) } }
        } catch (error: VestibuleException) {
            error.retryAfter?.let {
                wait = Wait(refreshToken, error, clock.monotonicMilliseconds() + server.pause(it).inWholeMilliseconds)
            }
            throw error
        }
    }

    /** Refreshes under the lock. */
    private suspend fun refreshOnce(record: SessionRecord, refreshToken: String, end: Deadline): StoredSession {
        val session = record.session ?: throw VestibuleException.signedOut()
        if (session.refreshToken != refreshToken) return session
        val issued = try {
            withDeadline(minOf(end.left, TRY_MAX)) { server.refresh(session, it) }
        } catch (error: VestibuleException) {
            if (error.endsSessionOnRefresh) records.write(record.copy(session = null, endedCode = error.codeOfEnd))
            throw error
        }
        // A token that isn't stored is not used: after a crash the old one is sent again, which the server allows.
        val next = issued.session.copy(isGuest = session.isGuest, others = session.others)
        records.write(record.copy(session = next))
        receipt = Receipt(next.accessToken, issued.requestedAt)
        return next
    }

    /** Waits for what runs in the client's scope; null if that was cancelled. */
    private suspend fun <T : Any> awaited(running: Deferred<T>): T? = try {
        running.await()
    } catch (_: CancellationException) {
        currentCoroutineContext().ensureActive()
        check(scope.isActive) { "the client is closed" }
        null
    }

    private companion object {
        const val LEFT_MILLISECONDS = 60_000L
        const val TAKEN_MAX = 3

        /** How long a try of a refresh may keep other processes waiting. */
        val TRY_MAX = 10.seconds
    }
}
