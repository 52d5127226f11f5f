package vestibule

import kotlin.time.Duration

/** The record of a session in the store, and its changes under the store's lock. */
internal class SessionRecords(
    private val store: SessionStore,
    private val key: String,
    private val clock: Clock,
    private val deadline: Duration,
    private val states: SessionStates,
) {
    /** Whether sessions wait for their end at the server, by the latest record. */
    @Volatile var hasSignOuts: Boolean = false
        private set

    /** The record as it is now. */
    suspend fun read(): SessionRecord {
        val version = states.version
        val record = parsed(storing { store.read(key) }) ?: locked { it }
        hasSignOuts = record.signOuts.isNotEmpty()
        states.observeRead(record, version)
        // What was kept too long isn't left until the next change.
        return if (record.isKept(clock.wallMilliseconds())) record else locked { write(it) }
    }

    /** Runs [action] with the record under the lock. Waiting for it has an end, too. */
    suspend fun <T> locked(length: Duration = deadline, action: suspend (SessionRecord) -> T): T =
        withDeadline(length) { storing { store.withLock(key) { action(readable().kept(clock.wallMilliseconds())) } } }

    /** Writes under the lock. */
    suspend fun write(record: SessionRecord): SessionRecord {
        val next = record.kept(clock.wallMilliseconds()).copy(generation = record.generation + 1)
        storing { store.write(key, next.write()) }
        hasSignOuts = next.signOuts.isNotEmpty()
        states.observeWritten(next)
        return next
    }

    /** The record under the lock. One that can't be read is kept beside, and the session is over. */
    private suspend fun readable(): SessionRecord {
        val text = storing { store.read(key) }
        parsed(text)?.let { return it }
        storing { store.write("${key.removeSuffix(".json")}.unreadable", text.orEmpty()) }
        return write(SessionRecord(endedCode = KitErrorCode.STORE_UNREADABLE))
    }

    private fun parsed(text: String?): SessionRecord? = try {
        if (text == null) SessionRecord() else SessionRecord.read(text)
    } catch (_: UnreadableRecordException) {
        null
    } catch (_: LaterRecordException) {
        throw VestibuleException.storeFailed("a later version of the app has written it")
    }
}
