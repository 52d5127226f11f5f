package vestibule.android

import android.os.SystemClock
import vestibule.Clock

/** The clocks of Android: the monotonic one goes on while the device sleeps. */
public object AndroidClock : Clock {
    override fun wallMilliseconds(): Long = System.currentTimeMillis()

    override fun monotonicMilliseconds(): Long = SystemClock.elapsedRealtime()
}
