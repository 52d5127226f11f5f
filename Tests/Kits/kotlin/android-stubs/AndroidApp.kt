@file:Suppress("unused", "UNUSED_PARAMETER")

package android.app

import android.content.Context
import android.content.Intent
import android.os.Bundle
import android.view.View

open class Application : Context()

open class Activity : Context() {
    val application: Application get() = error("a stub")
    val intent: Intent get() = error("a stub")

    protected open fun onCreate(savedInstanceState: Bundle?): Unit = error("a stub")

    protected open fun onNewIntent(intent: Intent): Unit = error("a stub")

    fun setContentView(view: View): Unit = error("a stub")
}
