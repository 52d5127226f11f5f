@file:Suppress("unused", "UNUSED_PARAMETER")

package androidx.lifecycle

import kotlinx.coroutines.CoroutineScope

interface LifecycleOwner

abstract class Lifecycle {
    enum class State { STARTED }
}

val LifecycleOwner.lifecycleScope: CoroutineScope get() = error("a stub")

suspend fun LifecycleOwner.repeatOnLifecycle(state: Lifecycle.State, block: suspend CoroutineScope.() -> Unit): Unit = error("a stub")
