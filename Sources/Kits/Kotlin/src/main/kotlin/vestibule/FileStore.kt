package vestibule

import java.io.File
import java.io.IOException
import java.io.RandomAccessFile
import java.nio.ByteBuffer
import java.nio.channels.FileChannel
import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.NoSuchFileException
import java.nio.file.Path
import java.nio.file.StandardCopyOption.ATOMIC_MOVE
import java.nio.file.StandardOpenOption
import java.nio.file.attribute.FileAttribute
import java.nio.file.attribute.PosixFilePermissions
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.runInterruptible
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext

/**
 * Keeps sessions in files of a folder, which only the user of the process can read. Any number of processes may share it.
 *
 * @param folder made if it isn't there. On a local disk: locks don't hold on every network file system.
 */
public class FileStore(folder: File) : SessionStore {
    private val folder: Path = folder.toPath().toAbsolutePath().normalize()

    override suspend fun read(key: String): String? = withContext(Dispatchers.IO) {
        try {
            String(Files.readAllBytes(path(key)), Charsets.UTF_8)
        } catch (_: NoSuchFileException) {
            null
        }
    }

    // A write goes on when its caller is cancelled: half of one would be worse.
    override suspend fun write(key: String, text: String): Unit = withContext(Dispatchers.IO) {
        makeFolder()
        val new = path("$key.new")
        Files.deleteIfExists(new)
        Files.createFile(new, *ownerOnly("rw-------"))
        FileChannel.open(new, StandardOpenOption.WRITE).use { channel ->
            val bytes = ByteBuffer.wrap(text.toByteArray())
            while (bytes.hasRemaining()) channel.write(bytes)
            channel.force(true)
        }
        Files.move(new, path(key), ATOMIC_MOVE)
        syncFolder()
    }

    override suspend fun remove(key: String): Unit = withContext(Dispatchers.IO) {
        if (Files.deleteIfExists(path(key))) syncFolder()
    }

    override suspend fun <T> withLock(key: String, action: suspend () -> T): T {
        // The system's lock belongs to the process: asking for it twice is an error, and closing the file a second time frees it. So the
        // folder's own name counts, whatever links lead there.
        val path = withContext(Dispatchers.IO) {
            makeFolder()
            folder.toRealPath().resolve(path("$key.lock").fileName)
        }
        return ProcessLocks.withLock(path.toString()) {
            var file: RandomAccessFile? = null
            try {
                runInterruptible(Dispatchers.IO) {
                    // The file stays: a lock of a removed one would be another lock.
                    file = RandomAccessFile(path.toFile(), "rw").also { it.channel.lock() }
                }
                action()
            } finally {
                // Frees the lock.
                file?.close()
            }
        }
    }

    private fun path(key: String): Path {
        require(key.isNotEmpty() && key.first() != '.' && key.all { it in 'a'..'z' || it in '0'..'9' || it == '.' || it == '-' }) {
            "not a key"
        }
        return folder.resolve(key)
    }

    private fun makeFolder() {
        if (!Files.isDirectory(folder)) Files.createDirectories(folder, *ownerOnly("rwx------"))
    }

    private fun ownerOnly(permissions: String): Array<FileAttribute<*>> =
        if ("posix" in FileSystems.getDefault().supportedFileAttributeViews()) {
            arrayOf(PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions)))
        } else {
            emptyArray()
        }

    /** Makes a rename survive a crash of the system, where folders can be opened. */
    private fun syncFolder() {
        try {
            FileChannel.open(folder, StandardOpenOption.READ).use { it.force(true) }
        } catch (_: IOException) {
            // Windows can't; the rename itself is atomic there, too.
        }
    }
}

/** A mutex for each path that is being locked in this process. */
private object ProcessLocks {
    private class Entry(val mutex: Mutex = Mutex(), var users: Int = 0)

    private val entries = HashMap<String, Entry>()

    suspend fun <T> withLock(path: String, action: suspend () -> T): T {
        val entry = synchronized(entries) { entries.getOrPut(path) { Entry() }.also { it.users++ } }
        try {
            return entry.mutex.withLock { action() }
        } finally {
            synchronized(entries) { if (--entry.users == 0) entries.remove(path) }
        }
    }
}
