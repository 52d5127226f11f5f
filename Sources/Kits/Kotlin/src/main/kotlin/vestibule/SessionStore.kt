package vestibule

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/**
 * Where a client keeps its session: texts under keys. The texts have tokens: store them where other apps can't read them.
 *
 * Each function may throw any exception, which the client reports as [KitErrorCode.STORE_FAILED] and survives.
 */
public interface SessionStore {
    /** Returns the text of a key, or null if there is none. Never half of one. */
    public suspend fun read(key: String): String?

    /** Keeps a text in the place of the one before, as a whole, and returns when it would survive the end of the process. */
    public suspend fun write(key: String, text: String)

    /** Removes a key. Succeeds if there is none. */
    public suspend fun remove(key: String)

    /**
     * Runs [action] while nobody else runs one for this key, in no other process that shares the store either. The lock is freed when the
     * action ends, also by cancellation, and when the process ends. It is not reentrant.
     */
    public suspend fun <T> withLock(key: String, action: suspend () -> T): T
}

/** Keeps sessions as long as the process lives, such as in tests. */
public class MemoryStore : SessionStore {
    private val texts = HashMap<String, String>()
    private val mutex = Mutex()

    override suspend fun read(key: String): String? = synchronized(texts) { texts[key] }

    override suspend fun write(key: String, text: String): Unit = synchronized(texts) { texts[key] = text }

    override suspend fun remove(key: String): Unit = synchronized(texts) {
        texts.remove(key)
    }

    override suspend fun <T> withLock(key: String, action: suspend () -> T): T = mutex.withLock { action() }
}

/** Runs an operation of a store, whose failures are errors of the client. */
internal suspend fun <T> storing(operation: suspend () -> T): T = try {
    operation()
} catch (error: CancellationException) {
    throw error
} catch (error: VestibuleException) {
    throw error
} catch (error: Exception) {
    // A lock that waits fails when it is cancelled.
    currentCoroutineContext().ensureActive()
    throw VestibuleException.storeFailed(error.javaClass.name)
}
