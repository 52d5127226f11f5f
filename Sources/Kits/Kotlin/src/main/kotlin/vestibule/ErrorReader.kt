package vestibule

import java.time.Instant
import java.time.format.DateTimeFormatter
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** How an endpoint writes its errors. Those of another form are somebody else's: a portal's or a proxy's. */
internal enum class ErrorForm {
    /** Connect, with an ErrorInfo of the server's domain. */
    CONNECT,

    /** OAuth (RFC 6749 section 5.2). */
    OAUTH,

    /** A problem (RFC 9457), with a code. */
    PROBLEM,
}

/** Reads errors of the server. */
internal object ErrorReader {
    private const val DOMAIN = "vestibule"
    private const val WAIT_MAX_SECONDS = 86_400.0

    /** The error of a response that is no success. */
    fun error(form: ErrorForm, status: Int, body: ByteArray, retryAfterField: String?, wallMilliseconds: Long): VestibuleException {
        val wait = retryAfter(retryAfterField, wallMilliseconds)
        val members = try {
            JSON.readObject(body)
        } catch (_: JSONException) {
            return foreign(status, wait)
        }
        return when (form) {
            ErrorForm.CONNECT -> connect(status, members, wait)
            ErrorForm.OAUTH -> oauth(status, members, wait)
            ErrorForm.PROBLEM -> problem(status, members, wait)
        } ?: foreign(status, wait)
    }

    /** The error in the last message of a stream; null if it is none of the server's. */
    fun endOfStream(members: JSONObject): VestibuleException? = connect(null, members, null)

    /** The error with which the page sends the user back (RFC 6749 section 4.1.2.1). */
    fun authorizationError(word: String, description: String?): VestibuleException {
        if (word == "access_denied") {
            return VestibuleException(KitErrorCode.CANCELLED, "The user turned back at the page.", ErrorAction.SHOW)
        }
        val code = word.uppercase()
        return VestibuleException(code, description ?: code, oauthActions[code] ?: ErrorAction.SIGN_IN_AGAIN)
    }

    private fun connect(status: Int?, members: JSONObject, wait: Duration?): VestibuleException? {
        val details = members.children("details")
        val info = details.detail("ErrorInfo")?.takeIf { it.text("domain") == DOMAIN }
        val code = info?.text("reason") ?: return null
        val known = status ?: errorTable[code]?.status ?: connectStatuses[members.text("code")]
        return VestibuleException(
            code,
            members.text("message") ?: code,
            errorTable[code]?.action ?: action(known),
            known,
            fields(details.detail("BadRequest")),
            details.detail("RetryInfo")?.text("retryDelay")?.let(::delay) ?: wait,
            info.child("metadata").orEmpty().mapNotNull { (name, value) -> (value as? String)?.let { name to it } }.toMap(),
        )
    }

    private fun oauth(status: Int, members: JSONObject, wait: Duration?): VestibuleException? {
        val code = members.text("error")?.uppercase() ?: return null
        val action = oauthActions[code] ?: return null
        // It ends a session, so that it has to be just what the standard says.
        if (code == KitErrorCode.INVALID_GRANT && status != 400) return null
        return VestibuleException(code, members.text("error_description") ?: code, action, status, retryAfter = wait)
    }

    private fun problem(status: Int, members: JSONObject, wait: Duration?): VestibuleException? {
        val code = members.text("code") ?: return null
        if (members.number("status") != status.toLong()) return null
        return VestibuleException(
            code, members.text("detail") ?: code, errorTable[code]?.action ?: action(status), status, problemFields(members), wait)
    }

    /** What has no code of its own. */
    private fun action(status: Int?): ErrorAction = when {
        status == 401 -> ErrorAction.REFRESH
        status == 429 || status == 503 -> ErrorAction.WAIT
        status != null && status < 500 -> ErrorAction.SHOW
        else -> ErrorAction.RETRY
    }

    /** The statuses of Connect's codes, for errors at the end of a stream whose reason this version doesn't know. */
    private val connectStatuses = mapOf(
        "unauthenticated" to 401, "permission_denied" to 403, "resource_exhausted" to 429, "unavailable" to 503, "internal" to 500,
    )

    /** Words of RFC 6749 section 5.2 in the form of codes. */
    private val oauthActions = mapOf(
        KitErrorCode.INVALID_GRANT to ErrorAction.SIGN_IN_AGAIN,
        "INVALID_CLIENT" to ErrorAction.FIX_REQUEST,
        "INVALID_REQUEST" to ErrorAction.FIX_REQUEST,
        "INVALID_SCOPE" to ErrorAction.FIX_REQUEST,
        "INVALID_TARGET" to ErrorAction.FIX_REQUEST,
        "UNAUTHORIZED_CLIENT" to ErrorAction.FIX_REQUEST,
        "UNSUPPORTED_GRANT_TYPE" to ErrorAction.FIX_REQUEST,
        "SERVER_ERROR" to ErrorAction.RETRY,
        "TEMPORARILY_UNAVAILABLE" to ErrorAction.WAIT,
    )

    /** Details are messages of protobuf, which the server also writes as JSON. */
    private fun List<JSONObject>.detail(name: String): JSONObject? =
        firstOrNull { it.text("type") == "google.rpc.$name" }?.child("debug")

    private fun fields(badRequest: JSONObject?): Map<String, FieldError> =
        badRequest?.children("fieldViolations").orEmpty().associate { violation ->
            camelCased(violation.text("field").orEmpty()) to
                FieldError(violation.text("reason").orEmpty(), violation.text("description").orEmpty())
        }

    private fun problemFields(members: JSONObject): Map<String, FieldError> = members.children("fields").associate { error ->
        camelCased(error.text("field").orEmpty()) to FieldError(error.text("code").orEmpty(), error.text("detail").orEmpty())
    }

    private fun foreign(status: Int, wait: Duration?): VestibuleException =
        if (status == 429 || status >= 500) {
            VestibuleException(KitErrorCode.UNAVAILABLE, "The server can't answer now.", ErrorAction.RETRY, status, retryAfter = wait)
        } else {
            VestibuleException.badResponse(status, "status $status")
        }

    /** A duration in JSON of protobuf: `1.5s`. */
    private fun delay(text: String): Duration? = text.removeSuffix("s").toDoubleOrNull()?.let(::bounded)

    /** Seconds or a date (RFC 9110 section 10.2.3). */
    private fun retryAfter(field: String?, wallMilliseconds: Long): Duration? {
        if (field == null) return null
        field.trim().toLongOrNull()?.let { return bounded(it.toDouble()) }
        return try {
            val date = Instant.from(DateTimeFormatter.RFC_1123_DATE_TIME.parse(field.trim()))
            bounded((date.toEpochMilli() - wallMilliseconds) / 1000.0)
        } catch (_: java.time.DateTimeException) {
            null
        }
    }

    private fun bounded(seconds: Double): Duration? =
        if (seconds.isNaN() || seconds < 0) null else (minOf(seconds, WAIT_MAX_SECONDS) * 1000).milliseconds
}
