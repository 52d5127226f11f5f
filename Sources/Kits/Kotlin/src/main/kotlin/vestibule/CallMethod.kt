package vestibule

/** Who calls a method. */
internal enum class MethodCaller { USER, ANYONE, USER_OR_ANYONE }

/** What the kit knows of a method of the API. */
internal class CallMethod(
    /** `vestibule.app.v1.GroupService/CreateGroup`. */
    val path: String,
    val caller: MethodCaller,
    /** Whether the call may be repeated after it may have reached the server. */
    val isIdempotent: Boolean,
    /** The member of the request for an idempotency key, with which the call may be repeated. */
    val idempotencyKey: String? = null,
) {
    val isSafe: Boolean get() = isIdempotent || idempotencyKey != null
}

/** What a code means. */
internal class ErrorCodeEntry(
    val status: Int,
    val action: ErrorAction,
    /** Whether the session is over, whatever was called. */
    val endsSession: Boolean,
    /** Whether the session is over if a refresh is answered so. */
    val endsSessionOnRefresh: Boolean,
)
