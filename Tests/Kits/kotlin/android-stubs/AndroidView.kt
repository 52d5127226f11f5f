@file:Suppress("unused", "UNUSED_PARAMETER")

package android.view

import android.content.Context

open class View(context: Context) {
    fun setOnClickListener(listener: (View) -> Unit): Unit = error("a stub")
}

open class ViewGroup(context: Context) : View(context) {
    fun addView(view: View): Unit = error("a stub")

    fun removeAllViews(): Unit = error("a stub")
}
