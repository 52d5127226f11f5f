package vestibule

/** What a client reads the time from. On Android pass `vestibule.android.AndroidClock`, which also counts the time of deep sleep. */
public interface Clock {
    /** The time that the user's clock shows, in milliseconds since 1970. It may be wrong, and may be set. */
    public fun wallMilliseconds(): Long

    /** Milliseconds since an unspecified moment, which only ever grow. */
    public fun monotonicMilliseconds(): Long

    /** The clocks of the JVM. */
    public object System : Clock {
        override fun wallMilliseconds(): Long = java.lang.System.currentTimeMillis()

        override fun monotonicMilliseconds(): Long = java.lang.System.nanoTime() / 1_000_000
    }
}
