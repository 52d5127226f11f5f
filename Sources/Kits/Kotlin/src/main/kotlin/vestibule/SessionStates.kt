package vestibule

import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.onSubscription

/** Whether a user is signed in. */
public sealed class SessionState {
    /** A user is signed in. */
    public data class SignedIn(
        /** The user's id, a UUID. */
        public val userId: String,
        /** The session's id, a UUID; empty if the server didn't say it. */
        public val sessionId: String,
        /** Whether the user is a guest: see [signInAsGuest]. */
        public val isGuest: Boolean = false,
    ) : SessionState()

    /** Nobody is signed in. */
    public data class SignedOut(
        /** The code for which the session has ended, such as `SESSION_REVOKED`; null if the user signed out, or never signed in. */
        public val code: String?,
    ) : SessionState()
}

/** Notifies the app of changes of the session's state. */
internal class SessionStates {
    private val emitted = MutableSharedFlow<SessionState>(extraBufferCapacity = 64, onBufferOverflow = BufferOverflow.DROP_OLDEST)
    private var state: SessionState? = null

    /** Each change from now on. */
    val changes: Flow<SessionState> get() = emitted

    /** Counts what this process has written. */
    @Volatile var version: Long = 0
        private set

    /** Looks at a record that was read after [version] was [versionBefore]. What was written meanwhile is newer. */
    fun observeRead(record: SessionRecord, versionBefore: Long): Unit = synchronized(this) {
        if (version == versionBefore) observe(record)
    }

    /** Looks at a record that was written. */
    fun observeWritten(record: SessionRecord): Unit = synchronized(this) {
        version++
        observe(record)
    }

    /** Emits the state of a record if it differs from the last one. */
    private fun observe(record: SessionRecord) {
        val next = record.session?.let { SessionState.SignedIn(it.userId, it.sessionId, it.isGuest) } ?: SessionState.SignedOut(record.endedCode)
        val last = state
        // Once the app has the reason, it is removed from the record: no change.
        if (next == last || (last is SessionState.SignedOut && next == SessionState.SignedOut(null))) return
        state = next
        emitted.tryEmit(next)
    }

    /** The state as it was last observed. */
    fun current(): SessionState = synchronized(this) { state } ?: SessionState.SignedOut(null)

    /** The reason was delivered, and is not delivered again. */
    fun acknowledge(code: String): Unit = synchronized(this) {
        if (state == SessionState.SignedOut(code)) state = SessionState.SignedOut(null)
    }

    /** The state at the time of [load], and all later ones. */
    fun flow(load: suspend () -> Unit): Flow<SessionState> = emitted.onSubscription {
        load()
        emit(current())
    }.distinctUntilChanged()
}
