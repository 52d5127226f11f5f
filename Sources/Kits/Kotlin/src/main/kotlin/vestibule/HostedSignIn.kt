package vestibule

import java.net.URI
import java.net.URLDecoder
import java.net.URLEncoder

/**
 * Begins a sign-in by the server's page, in the system's browser (on Android a Custom Tab).
 *
 * What [finishSignIn] needs is in the store, so that the process may end meanwhile. It is good for an hour; the last four that have begun
 * can be finished.
 *
 * @param redirectUri of the app's OpenID client, which opens the app again, such as `com.example.shop:/callback`.
 * @param provider skips the choice of a provider.
 * @param parameters more of OpenID Connect, such as `prompt` with `select_account`: the browser may have signed in somebody before.
 * @return the URL to open.
 */
public suspend fun Vestibule.beginSignIn(
    redirectUri: String,
    provider: String? = null,
    parameters: Map<String, String> = emptyMap(),
    options: CallOptions = CallOptions.DEFAULT,
): String = within(options) {
    val client = requireNotNull(clientId) { "a sign-in by the page needs the client's clientId" }
    val begun = HostedSignIn(randomText(), randomText(), randomText(), redirectUri, clock.wallMilliseconds())
    records.locked { records.write(it.beginning(begun)) }
    val all = parameters + present(
        "response_type" to "code", "client_id" to client, "redirect_uri" to redirectUri,
        "scope" to (parameters["scope"] ?: HostedSignIn.SCOPE), "state" to begun.state, "nonce" to begun.nonce,
        "code_challenge_method" to "S256", "code_challenge" to base64url(sha256(begun.verifier.toByteArray())), "idp" to provider,
    )
    val query = all.entries.joinToString("&") { "${encoded(it.key)}=${encoded(it.value.toString())}" }
    "${calls.url}${ServerSession.AUTHORIZE_PATH}?$query"
}

/**
 * Finishes a sign-in by the server's page. A callback is good once: whichever of several that arrive at the same time is first has it.
 *
 * It goes on when the caller is cancelled, such as by a phone that is turned: `states` has the result.
 *
 * @param callback the URL by which the browser opened the app.
 * @return the user's id, a UUID.
 * @throws VestibuleException [KitErrorCode.CANCELLED] if the user turned back, [ErrorCode.WEB_STATE_INVALID] for an answer to another
 *   request or a second time, [KitErrorCode.INVALID_GRANT] for a code that is too old.
 */
public suspend fun Vestibule.finishSignIn(callback: String, options: CallOptions = CallOptions.DEFAULT): String =
    within(options) { deadline ->
        val answer = parameters(callback)
        // RFC 9207: the answer of another server isn't taken for this one's.
        if (answer["iss"] != issuer) throw foreign()
        session.detached { finish(answer, deadline) }
    }

private suspend fun Vestibule.finish(answer: Map<String, String>, deadline: Deadline): String {
    // Under the lock: a code that is sent a second time ends the session.
    val begun = records.locked { record ->
        val begun = record.hosted.firstOrNull { it.state == answer["state"] } ?: throw foreign()
        records.write(record.copy(hosted = record.hosted - begun))
        begun
    }
    answer["error"]?.let { throw ErrorReader.authorizationError(it, answer["error_description"]) }
    val requestedAt = clock.monotonicMilliseconds()
    val receivedAt = clock.wallMilliseconds()
    val client = clientId.orEmpty()
    val form = mapOf(
        "grant_type" to "authorization_code", "code" to (answer["code"] ?: throw foreign()),
        "redirect_uri" to begun.redirectUri, "client_id" to client, "code_verifier" to begun.verifier,
    )
    val response = withDeadline(deadline.left) { calls.formOnce(ServerSession.TOKEN_PATH, form, it, mayRepeat = false) }
    val granted = ServerSession.granted(response, client, receivedAt)
    val claims = granted.idToken?.let(::claims) ?: throw foreign()
    // The token comes from the server itself, so that its signature proves nothing more (OpenID Connect Core section 3.1.3.7).
    val isOurs = claims.text("iss") == issuer && client in audiences(claims) && claims.text("nonce") == begun.nonce
    if (!isOurs) throw foreign()
    val user = claims.text("sub") ?: throw foreign()
    session.adopt(IssuedSession(granted.copy(userId = user, sessionId = claims.text("sid").orEmpty()), requestedAt))
    return user
}

/** What is kept between the beginning and the end of a sign-in by the page. */
internal data class HostedSignIn(
    val state: String,
    val nonce: String,
    val verifier: String,
    val redirectUri: String,
    /** What the user's clock showed. */
    val begunAt: Long,
) {
    override fun toString(): String = "HostedSignIn"

    fun isKept(now: Long): Boolean = isWithin(KEPT_MILLISECONDS_MAX, begunAt, now)

    val json: JSONObject
        get() = mapOf(
            "state" to state, "nonce" to nonce, "verifier" to verifier, "redirectUri" to redirectUri, "begunAt" to begunAt)

    companion object {
        const val SCOPE = "openid profile email offline_access"
        private const val KEPT_MILLISECONDS_MAX = 3_600_000L

        fun read(json: JSONObject): HostedSignIn? = HostedSignIn(
            json.text("state").orEmpty(), json.text("nonce").orEmpty(), json.text("verifier").orEmpty(),
            json.text("redirectUri").orEmpty(), json.number("begunAt") ?: 0,
        ).takeIf { it.state.isNotEmpty() }
    }
}

private fun encoded(text: String): String = URLEncoder.encode(text, "UTF-8")

private fun foreign() =
    VestibuleException(ErrorCode.WEB_STATE_INVALID, "This app did not begin this sign-in, or has finished it.", ErrorAction.SIGN_IN_AGAIN)

private fun audiences(claims: JSONObject): List<Any?> = claims["aud"].let { it as? List<*> ?: listOf(it) }

/** The parameters of a URL's query; none if one of them comes twice or can't be read. */
private fun parameters(url: String): Map<String, String> {
    val pairs = try {
        URI(url).rawQuery.orEmpty().split('&').filter { it.isNotEmpty() }.map {
            URLDecoder.decode(it.substringBefore('='), "UTF-8") to URLDecoder.decode(it.substringAfter('=', ""), "UTF-8")
        }
    } catch (_: Exception) {
        emptyList()
    }
    val parameters = pairs.toMap()
    return if (parameters.size == pairs.size) parameters else emptyMap()
}
