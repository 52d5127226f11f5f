package vestibule.driver

import java.io.IOException
import kotlinx.coroutines.awaitCancellation
import vestibule.SessionStore

/** A store whose client dies at one of its operations, or in which one operation fails. */
internal class FaultyStore(
    private val store: SessionStore,
    /** The number of the operation, from 1. */
    private val at: Int?,
    private val mode: String?,
    private val died: () -> Unit,
) : SessionStore {
    var count: Int = 0
        private set

    @Volatile var isDead: Boolean = false
        private set

    override suspend fun read(key: String): String? = operation { store.read(key) }

    override suspend fun write(key: String, text: String): Unit = operation { store.write(key, text) }

    override suspend fun remove(key: String): Unit = operation { store.remove(key) }

    override suspend fun <T> withLock(key: String, action: suspend () -> T): T {
        val isAt = begin()
        return store.withLock(key) {
            end(isAt)
            action()
        }
    }

    private suspend fun <T> operation(effect: suspend () -> T): T {
        val isAt = begin()
        return effect().also { end(isAt) }
    }

    private suspend fun begin(): Boolean {
        if (isDead) awaitCancellation()
        val isAt = synchronized(this) { ++count == at }
        if (isAt && mode == "throw") throw IOException("as the test wants")
        if (isAt && mode == "before") die()
        return isAt
    }

    private suspend fun end(isAt: Boolean) {
        if (isAt && mode == "after") die()
        if (isDead) awaitCancellation()
    }

    private suspend fun die(): Nothing {
        isDead = true
        died()
        awaitCancellation()
    }
}
