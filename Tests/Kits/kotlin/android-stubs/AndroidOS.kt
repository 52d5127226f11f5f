@file:Suppress("unused", "UNUSED_PARAMETER")

package android.os

class Bundle

object SystemClock {
    fun elapsedRealtime(): Long = error("a stub")
}
