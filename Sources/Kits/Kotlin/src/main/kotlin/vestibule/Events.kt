package vestibule

import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.channels.ProducerScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.launch

/**
 * What changes in the user's groups, and in the ways to sign in, as long as it is collected. An event comes at once, and then one for each
 * change. Lost connections are made again and the stream continues where it was. Read the lists after the first event, and again after
 * each one with `isReset`: what changed before the first event isn't in it.
 *
 * @return a flow that belongs to the user who is signed in when it begins. It fails with the reason when the session has ended, and
 *   with [KitErrorCode.SIGNED_OUT] when this user has signed out, or another one has signed in.
 */
public fun Vestibule.events(): Flow<WatchGroupsResponse> =
    channelFlow {
        val events = GroupEvents(this@events, this)
        launch { sessionStates.changes.collect(events::check) }
        events.run()
    }.buffer(Channel.RENDEZVOUS)

/** The streams of one collector, one after the other. */
private class GroupEvents(private val client: Vestibule, private val events: ProducerScope<WatchGroupsResponse>) {
    private val session = client.session
    private val backoff = client.streamBackoff()
    @Volatile private var userId: String? = null
    private var position = ""
    private var isFirst = true

    /** The access token that the server has rejected last. */
    private var rejected: String? = null

    /** Fails if the session is over, or another user's. */
    fun check(state: SessionState) {
        val user = userId ?: return
        when (state) {
            is SessionState.SignedIn -> if (state.userId != user) throw VestibuleException.signedOut()
            is SessionState.SignedOut -> throw state.code?.let(VestibuleException::ended) ?: VestibuleException.signedOut()
        }
    }

    suspend fun run() {
        while (true) {
            val pause = try {
                val held = rejected?.let { session.after(it) } ?: session.fresh()
                if (held.userId != (userId ?: held.userId)) throw VestibuleException.signedOut()
                userId = held.userId
                try {
                    follow(held)
                    backoff.pause(null)
                } catch (error: VestibuleException) {
                    pause(error, held)
                }
            } catch (error: VestibuleException) {
                pause(error, null)
            }
            pause?.let { delay(it) }
        }
    }

    /** Passes on the messages of one stream until it ends. */
    private suspend fun follow(held: StoredSession) {
        val request = present("position" to position.ifEmpty { null })
        val stream = client.calls.stream(Methods.watchGroups, request, held.accessToken, SILENCE_MAX)
        try {
            session.sendSignOuts()
            while (true) {
                val json = stream.next() ?: return
                val message = reading { WatchGroupsResponse.fromJson(json) }
                position = message.position
                backoff.reset()
                rejected = null
                // The rest are heartbeats.
                val isNews = isFirst || message.isReset || message.changes.isNotEmpty() || message.accountChanges.isNotEmpty()
                if (isNews) events.send(message)
                isFirst = false
            }
        } finally {
            stream.close()
        }
    }

    /**
     * What follows a failure: the pause before the next stream, or null for none.
     *
     * @param held the session of the stream; null if there was none because of the error.
     */
    private suspend fun pause(error: VestibuleException, held: StoredSession?): Duration? {
        when (nextStep(error, isOfStream = held != null)) {
            StreamStep.END -> throw error
            StreamStep.READ_AGAIN -> events.send(WatchGroupsResponse(position = position, isReset = true))
            StreamStep.REFRESH -> {
                // The end of a token is regular; a second one in a row is not.
                val isRepeated = rejected != null
                rejected = held?.accessToken
                if (!isRepeated) return null
            }
            StreamStep.RECONNECT -> Unit
        }
        return backoff.pause(error.retryAfter)
    }
}

/** The server sends a heartbeat every twenty seconds. */
private val SILENCE_MAX = 60.seconds

private enum class StreamStep { END, RECONNECT, REFRESH, READ_AGAIN }

private fun nextStep(error: VestibuleException, isOfStream: Boolean): StreamStep = when {
    error.code == KitErrorCode.SIGNED_OUT -> StreamStep.END
    // A refresh whose answer ends the session.
    !isOfStream && error.endsSessionOnRefresh -> StreamStep.END
    error.code == ErrorCode.TOO_SLOW -> StreamStep.READ_AGAIN
    isOfStream && error.asksForRefresh -> StreamStep.REFRESH
    error.action == ErrorAction.RETRY || error.action == ErrorAction.WAIT -> StreamStep.RECONNECT
    error.status == 429 || (error.status ?: 0) >= 500 -> StreamStep.RECONNECT
    else -> StreamStep.END
}
