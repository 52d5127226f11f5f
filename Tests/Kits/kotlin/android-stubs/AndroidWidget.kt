@file:Suppress("unused", "UNUSED_PARAMETER")

package android.widget

import android.content.Context
import android.view.View
import android.view.ViewGroup

open class TextView(context: Context) : View(context) {
    var text: CharSequence
        get() = error("a stub")
        set(value) = error("a stub")
}

class Button(context: Context) : TextView(context)

class LinearLayout(context: Context) : ViewGroup(context) {
    var orientation: Int
        get() = error("a stub")
        set(value) = error("a stub")

    companion object {
        const val VERTICAL: Int = 1
    }
}
