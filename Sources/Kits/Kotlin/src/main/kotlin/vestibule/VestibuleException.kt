package vestibule

import kotlin.time.Duration

/**
 * What an app does about an error. More may come: treat one that you don't know like [SHOW].
 *
 * @property name as the server's documentation has it, such as `sign_in_again`.
 */
public data class ErrorAction(public val name: String) {
    override fun toString(): String = name

    public companion object {
        /** Refresh the session and repeat the call. The kit does that by itself. */
        public val REFRESH: ErrorAction = ErrorAction("refresh")

        /** Have the user sign in. */
        public val SIGN_IN_AGAIN: ErrorAction = ErrorAction("sign_in_again")

        /** Repeat the call after [VestibuleException.retryAfter]. */
        public val WAIT: ErrorAction = ErrorAction("wait")

        /** Show the message: the user can change something, or has to know. */
        public val SHOW: ErrorAction = ErrorAction("show")

        /** Mend the app or the configuration: the same call fails each time. */
        public val FIX_REQUEST: ErrorAction = ErrorAction("fix_request")

        /** Repeat the call, a few times at most and with growing pauses. */
        public val RETRY: ErrorAction = ErrorAction("retry")
    }
}

/** What is wrong with a field of a request. */
public data class FieldError(
    /** The stable code, such as `DISPLAY_NAME_INVALID`. */
    public val code: String,
    /** The server's text for people. */
    public val message: String,
)

/**
 * A call has failed. No member has a token.
 *
 * @property code the server's stable code, or one of [KitErrorCode].
 * @property action what an app does about it; by the status for a code that this version of the kit doesn't know.
 * @property status the HTTP status of the response, if there was one.
 * @property fields the fields of the request at fault, by the names of the parameters (`displayName`).
 * @property retryAfter the least time to wait before the call is repeated, if the server said one.
 * @property metadata more from the server, such as `suggestions` of `USERNAME_TAKEN`.
 */
public class VestibuleException(
    public val code: String,
    message: String,
    public val action: ErrorAction,
    public val status: Int? = null,
    public val fields: Map<String, FieldError> = emptyMap(),
    public val retryAfter: Duration? = null,
    public val metadata: Map<String, String> = emptyMap(),
    cause: Throwable? = null,
) : Exception(message, cause) {
    /** Whether the answer to a call says that the session is over, which a refresh confirms. */
    internal val saysSessionIsOver: Boolean get() = isOfServer && status == 401 && errorTable[code]?.endsSession == true

    /** Whether a refresh, and the call once more, may help. */
    internal val asksForRefresh: Boolean get() = isOfServer && status == 401 && action == ErrorAction.REFRESH || saysSessionIsOver

    /** Whether the answer to a refresh says that the session is over. */
    internal val endsSessionOnRefresh: Boolean
        get() = isOfServer && (code == KitErrorCode.INVALID_GRANT || errorTable[code]?.endsSessionOnRefresh == true)

    /** The reason for which the session has ended then. */
    internal val codeOfEnd: String get() = if (code == KitErrorCode.INVALID_GRANT) ErrorCode.REFRESH_TOKEN_INVALID else code

    /** Whether nothing of the request has left the device. */
    internal val wasNotSent: Boolean get() = (cause as? TransportException)?.mayBeSent == false

    /** Whether the server itself answered, and not something on the way. */
    internal val isOfServer: Boolean get() = status != null && code !in KIT_CODES

    override fun toString(): String = "VestibuleException: $code${status?.let { " ($it)" } ?: ""}: $message"

    internal companion object {
        private val KIT_CODES = setOf(KitErrorCode.BAD_RESPONSE, KitErrorCode.UNAVAILABLE)

        fun network(cause: Throwable) = VestibuleException(
            KitErrorCode.NETWORK, "The server can't be reached.", ErrorAction.RETRY, cause = cause)

        fun timeout() = VestibuleException(KitErrorCode.TIMEOUT, "The deadline has passed.", ErrorAction.RETRY)

        /** Without the store's own error: that of an app's store may have the text in it, and with it the tokens. */
        fun storeFailed(why: String) = VestibuleException(
            KitErrorCode.STORE_FAILED, "The session can't be stored or read: $why", ErrorAction.RETRY)

        fun signedOut() = VestibuleException(KitErrorCode.SIGNED_OUT, "Nobody is signed in.", ErrorAction.SIGN_IN_AGAIN)

        fun signedIn() = VestibuleException(KitErrorCode.SIGNED_IN, "Somebody is signed in.", ErrorAction.SHOW)

        /** The reason for which the session has ended. */
        fun ended(code: String) = VestibuleException(
            code, "The session has ended.", errorTable[code]?.action ?: ErrorAction.SIGN_IN_AGAIN, errorTable[code]?.status)

        fun badResponse(status: Int?, why: String) = VestibuleException(
            KitErrorCode.BAD_RESPONSE, "The response is not the server's: $why", ErrorAction.RETRY, status)
    }
}

/** Codes of errors that don't come from the server. */
public object KitErrorCode {
    /** The user turned back at the server's page. */
    public const val CANCELLED: String = "CANCELLED"

    /** No whole response came. */
    public const val NETWORK: String = "NETWORK"

    /** The deadline of the call has passed. */
    public const val TIMEOUT: String = "TIMEOUT"

    /** The store of the session has failed. The session itself goes on. */
    public const val STORE_FAILED: String = "STORE_FAILED"

    /** There is no session, or no longer that of the user for whom a call began. */
    public const val SIGNED_OUT: String = "SIGNED_OUT"

    /** Somebody is signed in, so that nobody can become a guest. */
    public const val SIGNED_IN: String = "SIGNED_IN"

    /** Something else than the server answered, such as the page of a network that wants a sign-in, or the answer can't be read. */
    public const val BAD_RESPONSE: String = "BAD_RESPONSE"

    /** A status 429 or 5xx without an error of the server. */
    public const val UNAVAILABLE: String = "UNAVAILABLE"

    /** The server doesn't take the code of a sign-in by the page: it is spent or too old. */
    public const val INVALID_GRANT: String = "INVALID_GRANT"

    /** The reason of a signed-out state: what was stored can't be read. */
    public const val STORE_UNREADABLE: String = "STORE_UNREADABLE"
}
