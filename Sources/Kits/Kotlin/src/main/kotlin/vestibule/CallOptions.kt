package vestibule

import kotlin.time.Duration

/** How one call is made. */
public class CallOptions(
    /** How long the call may take, with waiting, refresh and retries; the client's if null. */
    public val deadline: Duration? = null,
) {
    public companion object {
        /** As the client is configured. */
        public val DEFAULT: CallOptions = CallOptions()
    }
}
