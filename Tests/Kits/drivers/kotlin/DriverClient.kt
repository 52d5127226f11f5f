package vestibule.driver

import java.io.File
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import vestibule.CallOptions
import vestibule.Clock
import vestibule.Credentials
import vestibule.FileStore
import vestibule.GuestOutcome
import vestibule.JSONObject
import vestibule.Methods
import vestibule.SessionState
import vestibule.SignInResult
import vestibule.SocketTransport
import vestibule.Vestibule
import vestibule.VestibuleException
import vestibule.WatchGroupsResponse
import vestibule.absorbGuest
import vestibule.beginSignIn
import vestibule.child
import vestibule.events
import vestibule.finishSignIn
import vestibule.keptGuest
import vestibule.linkProvider
import vestibule.number
import vestibule.present
import vestibule.signIn
import vestibule.signInAsGuest
import vestibule.text

/** A client of the kit, as it was opened. */
internal class DriverClient(private val name: String, request: JSONObject, private val write: (JSONObject) -> Unit) {
    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val clock = DriverClock(request.number("clockOffsetSeconds") ?: 0)
    private val faults = request.child("faults")
    private val store = FaultyStore(FileStore(File(request.text("store").orEmpty())), faults?.number("at")?.toInt(), faults?.text("mode")) {
        event("event" to "died")
    }
    private val client = Vestibule(
        request.text("url").orEmpty(), store, request.text("clientId"),
        deadline = request.number("deadlineMs")?.milliseconds ?: 30.seconds, language = null, issuer = null, clock,
        SocketTransport(), delayFactor = (request["delayFactor"] as? Number ?: 1).toDouble(),
    )
    @Volatile private var isDropped = false
    private var watch: Job? = null

    /** Runs a request of the client; null if the client is dropped meanwhile. */
    suspend fun within(action: suspend DriverClient.() -> JSONObject): JSONObject? {
        if (isDropped) return null
        val running = scope.async { action() }
        return try {
            running.await()
        } catch (error: Exception) {
            // Its client is closed.
            if (isDropped) null else throw error
        } finally {
            running.cancel()
        }
    }

    suspend fun open(): JSONObject {
        val first = follow()
        // A store that can't be read is an error here; `states` waits for it.
        client.state()
        return first.await().json
    }

    suspend fun drop() {
        isDropped = true
        client.close()
        client.scope.coroutineContext.job.join()
        scope.coroutineContext.job.cancelAndJoin()
    }

    suspend fun serve(op: String?, request: JSONObject): JSONObject = when (op) {
        "state" -> state()
        "signIn" -> signIn(request)
        "signInAsGuest" -> client.signInAsGuest(request.text("deviceName"), options(request)).json
        "keptGuest" -> present("userId" to client.keptGuest())
        "absorbGuest" -> {
            client.absorbGuest(if (request.text("guest") == "drop") GuestOutcome.DROP else GuestOutcome.MERGE, options(request))
            emptyMap()
        }
        "token" -> mapOf("token" to client.accessToken(options = options(request)))
        "refresh" -> mapOf("token" to client.refresh(options(request)))
        "call" -> call(request)
        "signOut" -> client.signOut(options(request)).let { emptyMap() }
        "beginHosted" -> mapOf("url" to client.beginSignIn(request.text("redirectUri").orEmpty(), request.text("provider")))
        "finishHosted" -> mapOf("userId" to client.finishSignIn(request.text("url").orEmpty()))
        "watch" -> watch()
        "unwatch" -> watch?.cancelAndJoin().let { emptyMap() }
        "clock" -> clock.set(request.number("offsetSeconds"), request.number("elapsedSeconds")).let { emptyMap() }
        "operations" -> mapOf("count" to store.count, "dead" to store.isDead)
        else -> error("unknown operation $op")
    }

    private suspend fun state(): JSONObject = client.state().json

    private val SessionState.json: JSONObject
        get() = when (this) {
            is SessionState.SignedIn -> present("state" to "signedIn", "userId" to userId, "isGuest" to true.takeIf { isGuest })
            is SessionState.SignedOut -> mapOf("state" to "signedOut")
        }

    private suspend fun signIn(request: JSONObject): JSONObject = client.signIn(credentials(request), options(request)).json

    private val SignInResult.json: JSONObject get() = mapOf("userId" to userId, "isNewUser" to isNewUser)

    private fun credentials(request: JSONObject): Credentials {
        val members = request.child("credentials").orEmpty()
        return Credentials(
            members.text("provider").orEmpty(), members.text("idToken"), members.text("nonce"), members.text("authorizationCode"),
            members.text("accessToken"), members.text("clientId"), members.text("redirectUri"), members.text("codeVerifier"),
            members.text("fullName"), members.text("email"), members.text("deviceName"), members["create"] != false,
        )
    }

    private fun options(request: JSONObject) = CallOptions(request.number("deadlineMs")?.milliseconds)

    private suspend fun call(request: JSONObject): JSONObject {
        val name = request.text("method").orEmpty()
        val method = Methods.all.first { it.path.endsWith(".$name") }
        val members = request.child("request").orEmpty()
        if (method !== Methods.linkProvider) return client.call(method, members, options(request))
        val providers = client.linkProvider(credentials(members), options(request))
        return mapOf("providers" to providers.map { mapOf("provider" to it.provider) })
    }

    private fun watch(): JSONObject {
        watch = scope.launch {
            val error = try {
                client.events().collect { event("event" to "message", "message" to it.json) }
                null
            } catch (_: CancellationException) {
                null
            } catch (error: VestibuleException) {
                error
            }
            event("event" to "watchEnded", "error" to error?.json)
        }
        return emptyMap()
    }

    private val WatchGroupsResponse.json: JSONObject
        get() = mapOf(
            "position" to position, "isReset" to isReset,
            "changes" to changes.map { mapOf("kind" to it.kind.toString(), "groupId" to it.groupId, "memberId" to it.memberId) },
        )

    /** Begins with the events of the state. The state comes when no later change can be missed. */
    private fun follow(): CompletableDeferred<SessionState> {
        val first = CompletableDeferred<SessionState>()
        scope.launch {
            var isFirst = true
            client.states.collect { state ->
                val code = (state as? SessionState.SignedOut)?.code
                if (!isFirst || code != null) event("event" to "state", "state" to state.json["state"], "code" to code)
                isFirst = false
                first.complete(state)
            }
        }
        return first
    }

    private fun event(vararg members: Pair<String, Any?>) {
        if (!isDropped) write(mapOf("client" to name) + present(*members))
    }
}

/** Clocks that the test sets. */
internal class DriverClock(@Volatile private var offsetSeconds: Long) : Clock {
    @Volatile private var elapsedSeconds: Long = 0

    fun set(offsetSeconds: Long?, elapsedSeconds: Long?) {
        offsetSeconds?.let { this.offsetSeconds = it }
        elapsedSeconds?.let { this.elapsedSeconds = it }
    }

    override fun wallMilliseconds(): Long = Clock.System.wallMilliseconds() + offsetSeconds * 1000

    override fun monotonicMilliseconds(): Long = Clock.System.monotonicMilliseconds() + elapsedSeconds * 1000
}
