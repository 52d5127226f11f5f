@file:Suppress("unused", "UNUSED_PARAMETER")

package androidx.browser.customtabs

import android.content.Context
import android.net.Uri

class CustomTabsIntent {
    fun launchUrl(context: Context, url: Uri): Unit = error("a stub")

    class Builder {
        fun build(): CustomTabsIntent = error("a stub")
    }
}
