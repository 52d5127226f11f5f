package vestibule

import java.io.BufferedInputStream
import java.io.IOException
import java.io.InputStream
import java.net.Socket

/**
 * A connection of HTTP/1.1 (RFC 9112). Its functions block, one at a time; [close] may come from any thread and ends them at once.
 *
 * @param socket what is closed: below TLS, if there is any, so that no goodbye has to be written first.
 * @param stream what is written to and read from.
 */
internal class HTTPConnection(private val socket: Socket, private val stream: Socket) {
    private val input: InputStream = BufferedInputStream(stream.getInputStream(), BUFFER_BYTES)
    private var framing = Framing.NONE
    private var left = 0L

    private enum class Framing { NONE, LENGTH, CHUNKED, UNTIL_CLOSE }

    /** Whether another request may follow, after the end of the body. */
    var isReusable: Boolean = false
        private set

    /** Sends a request, and returns the status and the header fields of its response, names in lower case. */
    @Throws(IOException::class)
    fun send(request: HTTPRequest, target: String, host: String, silenceMilliseconds: Int): Pair<Int, Map<String, String>> {
        stream.soTimeout = silenceMilliseconds
        val head = StringBuilder("${request.method} $target HTTP/1.1\r\nhost: $host\r\n")
        for ((name, value) in request.headers) {
            if (value.any { it < ' ' || it > '~' }) throw IOException("a header field with characters that it can't have")
            head.append("$name: $value\r\n")
        }
        if (request.body != null || request.method != "GET") head.append("content-length: ${request.body?.size ?: 0}\r\n")
        val output = stream.getOutputStream()
        output.write(head.append("\r\n").toString().toByteArray(Charsets.ISO_8859_1) + (request.body ?: ByteArray(0)))
        output.flush()
        while (true) {
            val (status, fields) = readHead()
            // Interim responses (RFC 9110 section 15.2).
            if (status >= 200) return (status to fields).also { begin(request.method, status, fields) }
        }
    }

    /** Returns the next piece of the body, or null at its end. */
    @Throws(IOException::class)
    fun read(): ByteArray? {
        if (framing == Framing.CHUNKED && left == 0L) beginChunk()
        if (framing == Framing.NONE || (framing == Framing.LENGTH && left == 0L)) return null
        val buffer = ByteArray(if (framing == Framing.UNTIL_CLOSE) BUFFER_BYTES else minOf(left, BUFFER_BYTES.toLong()).toInt())
        val count = input.read(buffer)
        if (count < 0) {
            if (framing == Framing.UNTIL_CLOSE) return null
            throw IOException("the body broke off")
        }
        if (framing != Framing.UNTIL_CLOSE) left -= count
        if (framing == Framing.CHUNKED && left == 0L) expect("")
        return buffer.copyOf(count)
    }

    /** Ends what is under way. */
    fun close() {
        try {
            socket.close()
        } catch (_: IOException) {
            // Then it is closed.
        }
    }

    /** Asks a proxy to connect to another host (RFC 9110 section 9.3.6). */
    @Throws(IOException::class)
    fun openTunnel(authority: String) {
        stream.getOutputStream().write("CONNECT $authority HTTP/1.1\r\nhost: $authority\r\n\r\n".toByteArray(Charsets.ISO_8859_1))
        val (status, _) = readHead()
        if (status !in 200..299) throw IOException("the proxy answers $status")
    }

    private fun readHead(): Pair<Int, Map<String, String>> {
        var bytes = 0
        fun line(): String = readLine().also {
            bytes += it.length
            if (bytes > HEAD_BYTES_MAX) throw IOException("the head is too large")
        }
        val match = STATUS_LINE.matchEntire(line()) ?: throw IOException("not HTTP/1.1")
        val fields = HashMap<String, String>()
        while (true) {
            val field = line()
            if (field.isEmpty()) break
            val name = field.substringBefore(':', "").lowercase()
            if (name.isEmpty() || name.any { it <= ' ' }) throw IOException("a malformed header field")
            val value = field.substringAfter(':').trim()
            // Two lengths leave open where the response ends.
            if (fields.put(name, value).let { it != null && it != value } && name in FRAMING_FIELDS) throw IOException("two of $name")
        }
        isReusable = match.groupValues[1] == "1" && !fields["connection"].equals("close", ignoreCase = true)
        return match.groupValues[2].toInt() to fields
    }

    /** RFC 9112 section 6.3. */
    private fun begin(method: String, status: Int, fields: Map<String, String>) {
        val coding = fields["transfer-encoding"]
        val length = fields["content-length"]
        left = 0
        framing = when {
            method == "HEAD" || status == 204 || status == 304 -> Framing.NONE
            coding != null -> {
                if (!coding.equals("chunked", ignoreCase = true) || length != null) throw IOException("framed as $coding")
                Framing.CHUNKED
            }
            length != null -> {
                left = length.takeIf { it.isNotEmpty() && it.all { digit -> digit in '0'..'9' } }?.toLongOrNull()
                    ?: throw IOException("a malformed length")
                Framing.LENGTH
            }
            else -> Framing.UNTIL_CLOSE
        }
        if (framing == Framing.UNTIL_CLOSE) isReusable = false
    }

    private fun beginChunk() {
        left = readLine().substringBefore(';').trim().takeIf { it.length in 1..CHUNK_DIGITS_MAX }?.toLongOrNull(16)?.takeIf { it >= 0 }
            ?: throw IOException("a malformed chunk")
        if (left > 0) return
        var trailers = 0
        while (readLine().isNotEmpty()) if (++trailers > TRAILERS_MAX) throw IOException("too many trailers")
        framing = Framing.NONE
    }

    private fun expect(line: String) {
        if (readLine() != line) throw IOException("a malformed chunk")
    }

    private fun readLine(): String {
        val line = StringBuilder()
        while (true) {
            val byte = input.read()
            if (byte < 0) throw IOException("the connection ended")
            if (byte == '\n'.code) return line.removeSuffix("\r").toString()
            if (line.length == LINE_BYTES_MAX) throw IOException("a line is too long")
            line.append(byte.toChar())
        }
    }

    private companion object {
        const val BUFFER_BYTES = 16 * 1024
        const val LINE_BYTES_MAX = 16 * 1024
        const val HEAD_BYTES_MAX = 64 * 1024
        const val CHUNK_DIGITS_MAX = 8
        const val TRAILERS_MAX = 64
        val STATUS_LINE = Regex("HTTP/1\\.([01]) ([1-5][0-9][0-9])(?: .*)?")
        val FRAMING_FIELDS = setOf("content-length", "transfer-encoding")
    }
}
