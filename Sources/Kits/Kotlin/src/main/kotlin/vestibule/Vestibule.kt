package vestibule

import java.io.Closeable
import java.util.UUID
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.isActive
import kotlinx.coroutines.withTimeoutOrNull

/**
 * A client of a Vestibule server: the session of the app's user, and the calls of the API.
 *
 * Make one for the app, and keep it as long as the process lives. Nothing happens before its first use. It may be used from any
 * thread. All calls throw [VestibuleException], and are cancelled with their coroutine.
 *
 * @param url the server's, such as `https://id.example.com`; http is good for this device alone, and for the host of an emulator. A
 *   session is kept for each URL, however it is written.
 * @param store where the session is kept.
 * @property clientId the OpenID client of the app, for [beginSignIn].
 * @param deadline how long a call may take unless its [CallOptions] say otherwise.
 * @param language of the server's messages (BCP 47); the server's own if null.
 * @property issuer of the server, if that isn't its URL.
 */
public class Vestibule internal constructor(
    url: String,
    store: SessionStore,
    public val clientId: String?,
    private val deadline: Duration,
    language: String?,
    issuer: String?,
    internal val clock: Clock,
    transport: Transport,
    private val delayFactor: Double,
) : Closeable {
    public constructor(
        url: String,
        store: SessionStore,
        clientId: String? = null,
        deadline: Duration = 30.seconds,
        language: String? = null,
        issuer: String? = null,
        clock: Clock = Clock.System,
        transport: Transport = SocketTransport(),
    ) : this(url, store, clientId, deadline, language, issuer, clock, transport, delayFactor = 1.0)

    internal val calls = ServerCalls(normalizedServerURL(url), transport, clock, language, delayFactor)
    internal val key = "session-${hexadecimal(sha256(calls.url.toByteArray())).take(KEY_LENGTH)}"
    public val issuer: String = issuer ?: calls.url
    internal val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    internal val sessionStates = SessionStates()
    internal val records = SessionRecords(store, "$key.json", clock, deadline, sessionStates)
    internal val session = CurrentSession(records, clock, ServerSession(calls, clock), scope, deadline)

    /**
     * The session's state now, and each change. A collector gets the reason for which a session has ended; once it has come back
     * from handling it (with `collectLatest`: suspends first), no collector gets it again, not even after a restart. What another process
     * of the app changes is seen at the next call.
     */
    public val states: Flow<SessionState> = flow {
        sessionStates.flow { untilRead() }.collect { state ->
            try {
                emit(state)
            } catch (error: CancellationException) {
                // An operator such as `first` that has what it wants. One that is cancelled may not have handled it.
                if (currentCoroutineContext().isActive) acknowledge(state)
                throw error
            }
            acknowledge(state)
        }
    }

    /** Whether a user is signed in, by the store. */
    public suspend fun state(): SessionState {
        session.record()
        return sessionStates.current()
    }

    /**
     * Returns an access token that is good for a while, for requests to the app's own backend.
     *
     * @param insteadOf the token that the backend has refused with a 401: the one that is returned is another.
     * @throws VestibuleException with [KitErrorCode.SIGNED_OUT] if nobody is signed in.
     */
    public suspend fun accessToken(insteadOf: String? = null, options: CallOptions = CallOptions.DEFAULT): String =
        within(options) { (if (insteadOf == null) session.fresh() else session.after(insteadOf)).accessToken }

    /** Refreshes the session even if its access token is good, such as after a change of the user's rights. Returns the new one. */
    public suspend fun refresh(options: CallOptions = CallOptions.DEFAULT): String = within(options) { session.refreshed().accessToken }

    /**
     * Signs the user out: here at once, also without a network, and at the server as soon as that can be reached. It goes on when the
     * caller is cancelled.
     *
     * @throws VestibuleException with [KitErrorCode.STORE_FAILED]: then the user is still signed in. With [KitErrorCode.TIMEOUT]:
     *   another process has kept the store locked until the deadline; the sign-out goes on, and `states` has it.
     */
    public suspend fun signOut(options: CallOptions = CallOptions.DEFAULT) {
        val end = Deadline(options.deadline ?: deadline)
        within(options) { session.signOut() }
        withTimeoutOrNull(end.left) { session.endAll() }
    }

    /** Ends what the client does by itself: calls throw [IllegalStateException] from now on. The session stays in the store. */
    override fun close(): Unit = scope.cancel()

    /** Calls a method with the session's access token, after a refresh a second time if the server rejects the token. */
    internal suspend fun call(method: CallMethod, request: JSONObject, options: CallOptions): JSONObject {
        // One key for all tries: however often the request arrives, it is done once.
        val keyed = method.idempotencyKey?.let { request + (it to (request.text(it) ?: UUID.randomUUID().toString())) } ?: request
        return within(options) { deadline ->
            when {
                method.caller != MethodCaller.USER -> calls.call(method, keyed, { null }, deadline)
                endsSession(method, keyed) -> ending(method, keyed, deadline)
                else -> authorized { calls.call(method, keyed, it::accessToken, deadline) }
            }
        }
    }

    /** Calls a method, and reads its response. */
    internal suspend fun <T> call(method: CallMethod, request: JSONObject, options: CallOptions, read: (JSONObject) -> T): T =
        reading { read(call(method, request, options)) }

    /** Sends a request to a JSON route. */
    internal suspend fun route(verb: String, path: String, body: ByteArray?, type: String?, options: CallOptions): JSONObject =
        within(options) { deadline -> authorized { calls.route(verb, path, body, type, it::accessToken, deadline) } }

    /** Runs [action] with the default deadline, or that of the options. */
    internal suspend fun <T> within(options: CallOptions, action: suspend (Deadline) -> T): T {
        check(scope.isActive) { "the client is closed" }
        return withDeadline(options.deadline ?: deadline, action)
    }

    /** Pauses between streams of events. */
    internal fun streamBackoff(): Backoff = Backoff.ofStreams(delayFactor)

    /**
     * Calls with the session's access token. If the server rejects it, or says that the session is over, a refresh decides: the call is
     * repeated once with the token that it brings.
     */
    internal suspend fun <T> authorized(call: suspend (CallTokens) -> T): T {
        val tokens = CallTokens(session)
        val result = try {
            call(tokens)
        } catch (error: VestibuleException) {
            if (tokens.hasFailed || !error.asksForRefresh) throw error
            tokens.refuse()
            call(tokens)
        }
        session.sendSignOuts()
        return result
    }

    private fun endsSession(method: CallMethod, request: JSONObject) =
        method === Methods.deleteMe || method === Methods.signOutEverywhere && request["exceptCurrent"] != true

    /** Calls a method that ends the session of its caller. */
    private suspend fun ending(method: CallMethod, request: JSONObject, deadline: Deadline): JSONObject {
        var mayBeDone = false
        return authorized { tokens ->
            val response = try {
                calls.call(method, request, tokens::accessToken, deadline) { mayBeDone = mayBeDone || !it.isOfServer && !it.wasNotSent }
            } catch (error: VestibuleException) {
                // A try whose answer was lost has ended the session, as the user wants.
                if (!mayBeDone || !error.saysSessionIsOver) throw error
                emptyMap()
            }
            if (response.text("deletesAt") == null) session.ended(tokens.session)
            response
        }
    }

    /** The state has to be known before it can be emitted. A store that fails may work later. */
    private suspend fun untilRead() {
        val backoff = streamBackoff()
        while (true) {
            try {
                session.record()
                return
            } catch (error: VestibuleException) {
                delay(backoff.pause(error.retryAfter))
            }
        }
    }

    private suspend fun acknowledge(state: SessionState) {
        val code = (state as? SessionState.SignedOut)?.code ?: return
        try {
            session.acknowledge(code)
        } catch (_: VestibuleException) {
            // The app may get the reason once more, after a restart.
        }
        sessionStates.acknowledge(code)
    }

    private companion object {
        const val KEY_LENGTH = 32
    }
}
