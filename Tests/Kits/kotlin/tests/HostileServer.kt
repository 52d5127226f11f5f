package vestibule.tests

import java.io.Closeable
import java.io.IOException
import java.io.OutputStream
import java.net.ServerSocket
import java.net.Socket
import java.util.concurrent.CopyOnWriteArrayList
import kotlin.concurrent.thread

/** A server that answers each request as a test wants. */
internal class HostileServer(
    private val server: ServerSocket = ServerSocket(0), private val answer: (Request, OutputStream) -> Unit,
) : Closeable {
    internal class Request(val head: List<String>, val body: String) {
        val path: String get() = head.first().split(' ')[1]

        fun header(name: String): String? =
            head.firstOrNull { it.startsWith("$name:", ignoreCase = true) }?.substringAfter(':')?.trim()
    }

    private val sockets = CopyOnWriteArrayList<Socket>()
    val requests = CopyOnWriteArrayList<Request>()
    val port: Int get() = server.localPort
    val url: String get() = "http://127.0.0.1:$port"

    /** Connections that the client hasn't closed. */
    val openCount: Int get() = sockets.count { !isClosedByPeer(it) }

    init {
        thread(isDaemon = true) {
            while (true) {
                val socket = try {
                    server.accept()
                } catch (_: IOException) {
                    break
                }
                sockets += socket
                thread(isDaemon = true) { serve(socket) }
            }
        }
    }

    override fun close() {
        server.close()
        sockets.forEach { it.close() }
    }

    private fun serve(socket: Socket) {
        try {
            val input = socket.getInputStream()
            while (true) {
                val head = generateSequence { line(input).ifEmpty { null } }.toList()
                if (head.isEmpty()) return
                val length = Request(head, "").header("content-length")?.toInt() ?: 0
                val body = ByteArray(length)
                var count = 0
                while (count < length) count += input.read(body, count, length - count).also { if (it < 0) return }
                val request = Request(head, String(body))
                requests += request
                answer(request, socket.getOutputStream())
            }
        } catch (_: IOException) {
            // The client has gone.
        }
    }

    private fun line(input: java.io.InputStream): String {
        val line = StringBuilder()
        while (true) {
            val byte = input.read()
            if (byte < 0 || byte == '\n'.code) return line.removeSuffix("\r").toString()
            line.append(byte.toChar())
        }
    }

    private fun isClosedByPeer(socket: Socket): Boolean = try {
        socket.soTimeout = 1
        socket.getInputStream().read() < 0
    } catch (_: java.net.SocketTimeoutException) {
        false
    } catch (_: IOException) {
        true
    }
}

/** Writes a response with a length, and leaves the connection open. */
internal fun OutputStream.respond(status: String, body: String, vararg fields: String) {
    val head = listOf("HTTP/1.1 $status", "content-length: ${body.toByteArray().size}", *fields)
    write((head.joinToString("\r\n") + "\r\n\r\n" + body).toByteArray())
    flush()
}

internal const val JSON_TYPE = "content-type: application/json"

/** An error as the gateway writes it. */
internal fun errorOf(reason: String): String =
    """{"code":"unauthenticated","message":"m","details":[{"type":"google.rpc.ErrorInfo","value":"",""" +
        """"debug":{"reason":"$reason","domain":"vestibule"}}]}"""

/** The answer to a sign-in or a refresh. */
internal fun tokens(number: Int, seconds: Int = 600): String =
    """{"tokens":{"accessToken":"access-$number","refreshToken":"refresh-$number","expiresInSeconds":$seconds,""" +
        """"userId":"u","sessionId":"s"}}"""
