package vestibule

import java.io.IOException
import java.net.URLEncoder
import kotlin.time.Duration
import kotlinx.coroutines.delay

/** Sends requests to the server and reads its responses. Knows nothing of the session. */
internal class ServerCalls(
    /** The server's URL without a slash at its end. */
    val url: String,
    private val transport: Transport,
    private val clock: Clock,
    private val language: String?,
    val delayFactor: Double,
) {
    /**
     * Calls a method by Connect, again if that is safe.
     *
     * @param accessToken is asked for before each try.
     * @param failed gets the error of each try that is repeated.
     * @throws VestibuleException what the last try failed with.
     */
    suspend fun call(
        method: CallMethod,
        request: JSONObject,
        accessToken: suspend () -> String?,
        deadline: Deadline,
        failed: (VestibuleException) -> Unit = {},
    ): JSONObject = retrying(deadline, { error -> mayTryAgain(error, method.isSafe).also { if (it) failed(error) } }, accessToken) {
        callOnce(method, request, it, deadline)
    }

    /** Calls a method by Connect. */
    suspend fun callOnce(method: CallMethod, request: JSONObject, accessToken: String?, deadline: Deadline): JSONObject {
        val left = deadline.left
        val headers = headers(accessToken) + mapOf(
            "content-type" to "application/json", "connect-protocol-version" to "1",
            "connect-timeout-ms" to left.inWholeMilliseconds.coerceAtLeast(1).toString(),
        )
        val body = JSON.write(request).toByteArray()
        return exchange(HTTPRequest("POST", "$url/${method.path}", headers, body, left, method.isSafe), ErrorForm.CONNECT)
    }

    /** Sends a form to an endpoint of OAuth, again if [isSafe]. Returns an empty object for an empty response. */
    suspend fun form(path: String, fields: Map<String, String>, isSafe: Boolean, deadline: Deadline): JSONObject =
        retrying(deadline, { mayTryAgain(it, isSafe) }, { null }) { formOnce(path, fields, deadline, isSafe) }

    /** Sends a form to an endpoint of OAuth. */
    suspend fun formOnce(path: String, fields: Map<String, String>, deadline: Deadline, mayRepeat: Boolean = true): JSONObject {
        val body = fields.entries.joinToString("&") { "${encoded(it.key)}=${encoded(it.value)}" }.toByteArray()
        val headers = headers(null) + ("content-type" to "application/x-www-form-urlencoded")
        return exchange(HTTPRequest("POST", url + path, headers, body, deadline.left, mayRepeat), ErrorForm.OAUTH)
    }

    /** Sends a request to a JSON route, which may be repeated. */
    suspend fun route(
        verb: String, path: String, body: ByteArray?, type: String?, accessToken: suspend () -> String, deadline: Deadline,
    ): JSONObject =
        retrying(deadline, { mayTryAgain(it, isSafe = true) }, accessToken) {
            val headers = headers(it) + present("content-type" to type).mapValues { it.value.toString() }
            exchange(HTTPRequest(verb, url + path, headers, body, deadline.left, mayRepeat = true), ErrorForm.PROBLEM)
        }

    /** Opens a stream of messages by Connect. */
    suspend fun stream(method: CallMethod, request: JSONObject, accessToken: String, silenceMax: Duration): MessageStream {
        val headers = headers(accessToken) + mapOf("content-type" to "application/connect+json", "connect-protocol-version" to "1")
        val body = Envelope.write(JSON.write(request).toByteArray())
        val response = sending(HTTPRequest("POST", "$url/${method.path}", headers, body, silenceMax, mayRepeat = true))
        if (response.status != 200 || !response.isOfType("application/connect+json")) {
            // Its body may never end.
            throw withDeadline(silenceMax) { failure(response, ErrorForm.CONNECT) }
        }
        return MessageStream(response)
    }

    /** Tries again whatever isn't the server's decision: no answer, one of something on the way, or one that can't be read. */
    suspend fun <T> retryingAll(deadline: Deadline, attempt: suspend () -> T): T = retrying(deadline, ::mayPass, { null }) { attempt() }

    /** Tries up to three times, with pauses, as long as the deadline isn't before the end of the pause. Without a token there is no try. */
    private suspend fun <T> retrying(
        deadline: Deadline,
        again: (VestibuleException) -> Boolean,
        accessToken: suspend () -> String?,
        attempt: suspend (String?) -> T,
    ): T {
        val backoff = Backoff.ofCalls(delayFactor)
        var tries = 1
        while (true) {
            val token = accessToken()
            val error = try {
                return attempt(token)
            } catch (error: VestibuleException) {
                error
            }
            if (tries == Backoff.TRIES_MAX || !again(error)) throw error
            val pause = backoff.pause(error.retryAfter)
            if (maxOf(pause, (error.retryAfter ?: Duration.ZERO) * delayFactor) > deadline.left) throw error
            delay(pause)
            tries++
        }
    }

    private fun mayPass(error: VestibuleException): Boolean = when {
        error.isOfServer -> error.status == 429 || (error.status ?: 0) >= 500
        // Where a portal sends everything to isn't where the server is.
        error.status in STATUSES_OF_REDIRECTS -> false
        else -> error.code != KitErrorCode.STORE_FAILED && error.code != KitErrorCode.SIGNED_OUT
    }

    private fun mayTryAgain(error: VestibuleException, isSafe: Boolean): Boolean = when {
        error.code == KitErrorCode.NETWORK -> isSafe || error.wasNotSent
        error.code == KitErrorCode.UNAVAILABLE -> isSafe && error.status in STATUSES_OF_PROXIES
        // The server says that nothing was done.
        error.isOfServer -> error.status == 429 || error.status == 503
        else -> false
    }

    private fun headers(accessToken: String?): Map<String, String> = present(
        "accept" to "application/json",
        "accept-language" to language,
        "authorization" to accessToken?.let { "Bearer $it" },
        "user-agent" to "vestibule-kotlin",
    ).mapValues { it.value.toString() }

    private suspend fun sending(request: HTTPRequest): HTTPResponse = try {
        transport.send(request)
    } catch (error: IOException) {
        throw VestibuleException.network(error)
    }

    private suspend fun exchange(request: HTTPRequest, form: ErrorForm): JSONObject {
        val response = sending(request)
        if (response.status != 200) throw failure(response, form)
        val body = body(response)
        // RFC 7009 has no body.
        if (body.isEmpty() && form == ErrorForm.OAUTH) return emptyMap()
        if (!response.isOfType("application/json")) throw VestibuleException.badResponse(200, "not JSON")
        return try {
            JSON.readObject(body)
        } catch (error: JSONException) {
            throw VestibuleException.badResponse(200, error.message.orEmpty())
        }
    }

    private suspend fun failure(response: HTTPResponse, form: ErrorForm): VestibuleException =
        ErrorReader.error(form, response.status, body(response), response.header("retry-after"), clock.wallMilliseconds())

    private suspend fun body(response: HTTPResponse): ByteArray = try {
        response.readAll(JSON.BYTES_MAX)
    } catch (error: BodyTooLargeException) {
        throw VestibuleException.badResponse(response.status, error.message.orEmpty())
    } catch (error: IOException) {
        throw VestibuleException.network(error)
    }

    private fun HTTPResponse.isOfType(type: String) =
        header("content-type")?.substringBefore(';')?.trim().equals(type, ignoreCase = true)

    private companion object {
        val STATUSES_OF_REDIRECTS = 300..399
        val STATUSES_OF_PROXIES = setOf(429, 502, 503, 504)

        fun encoded(text: String): String = URLEncoder.encode(text, "UTF-8")
    }
}
