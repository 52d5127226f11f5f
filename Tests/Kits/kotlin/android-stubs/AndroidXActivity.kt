@file:Suppress("unused", "UNUSED_PARAMETER")

package androidx.activity

import android.app.Activity
import androidx.lifecycle.LifecycleOwner

open class ComponentActivity : Activity(), LifecycleOwner
