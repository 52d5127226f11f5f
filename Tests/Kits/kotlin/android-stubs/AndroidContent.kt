@file:Suppress("unused", "UNUSED_PARAMETER")

package android.content

import android.net.Uri
import java.io.File

abstract class Context {
    open val noBackupFilesDir: File get() = error("a stub")
    val applicationContext: Context get() = error("a stub")

    fun getString(id: Int): String = error("a stub")
}

class Intent {
    var data: Uri?
        get() = error("a stub")
        set(value) = error("a stub")
}
