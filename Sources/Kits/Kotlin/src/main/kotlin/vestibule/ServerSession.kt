package vestibule

import kotlin.time.Duration

/** How sessions are refreshed and ended: those of the app's own by the API, those of an OpenID client by its endpoints. */
internal class ServerSession(private val calls: ServerCalls, private val clock: Clock) : SessionServer {
    override suspend fun refresh(session: StoredSession, deadline: Deadline): IssuedSession {
        val requestedAt = clock.monotonicMilliseconds()
        val receivedAt = clock.wallMilliseconds()
        val next = if (session.clientId == null) {
            val request = mapOf("refreshToken" to session.refreshToken)
            issued(calls.callOnce(Methods.refreshSession, request, null, deadline), receivedAt)
        } else {
            val form = mapOf("grant_type" to "refresh_token", "refresh_token" to session.refreshToken, "client_id" to session.clientId)
            granted(calls.formOnce(TOKEN_PATH, form, deadline), session.clientId, receivedAt).let {
                // Not every answer has an ID token again.
                it.copy(idToken = it.idToken ?: session.idToken, userId = session.userId, sessionId = session.sessionId)
            }
        }
        return IssuedSession(next, requestedAt)
    }

    override suspend fun <T> repeating(deadline: Deadline, attempt: suspend () -> T): T = calls.retryingAll(deadline, attempt)

    override fun pause(retryAfter: Duration): Duration = Backoff.bounded(retryAfter, calls.delayFactor)

    override suspend fun signOut(session: PendingSignOut, deadline: Deadline) {
        if (session.clientId == null) {
            calls.call(Methods.signOut, mapOf("refreshToken" to session.refreshToken), { null }, deadline)
        } else {
            calls.form(REVOKE_PATH, mapOf("token" to session.refreshToken, "client_id" to session.clientId), isSafe = true, deadline)
        }
    }

    companion object {
        const val AUTHORIZE_PATH = "/oauth2/authorize"
        const val TOKEN_PATH = "/oauth2/token"
        private const val REVOKE_PATH = "/oauth2/revoke"

        /** The session of a response with SessionTokens. */
        fun issued(response: JSONObject, receivedAt: Long): StoredSession {
            val tokens = response.child("tokens") ?: throw incomplete()
            return StoredSession(
                tokens.present("accessToken"), tokens.present("refreshToken"), tokens.text("idToken")?.ifEmpty { null },
                tokens.present("userId"), tokens.present("sessionId"), null, tokens.number("expiresInSeconds") ?: throw incomplete(),
                receivedAt,
            )
        }

        /** The session of a response of the token endpoint, without its user. */
        fun granted(response: JSONObject, clientId: String, receivedAt: Long): StoredSession = StoredSession(
            response.present("access_token"), response.present("refresh_token"), response.text("id_token"), "", "", clientId,
            response.number("expires_in") ?: throw incomplete(), receivedAt,
        )

        private fun JSONObject.present(name: String): String = text(name)?.ifEmpty { null } ?: throw incomplete()

        private fun incomplete() = VestibuleException.badResponse(200, "no tokens")
    }
}
