package vestibule

import java.io.IOException

/** The frames of a stream by Connect: a byte of flags, four of length, and the message. */
internal object Envelope {
    const val HEAD_BYTES = 5
    const val BYTES_MAX = 1024 * 1024
    const val FLAG_COMPRESSED = 1
    const val FLAG_END = 2

    fun write(message: ByteArray): ByteArray = byteArrayOf(
        0, (message.size ushr 24).toByte(), (message.size ushr 16).toByte(), (message.size ushr 8).toByte(), message.size.toByte(),
    ) + message

    /** The length in a head, or -1 if it is longer than a message can be. */
    fun length(head: ByteArray): Int {
        val length = (1..4).fold(0L) { length, index -> length shl 8 or (head[index].toLong() and 0xff) }
        return if (length > BYTES_MAX) -1 else length.toInt()
    }
}

/** The messages of a stream that is open. Its user closes it. */
internal class MessageStream(private val response: HTTPResponse) {
    private var pending = ByteArray(0)

    /**
     * Returns the next message, or null at a regular end of the stream.
     *
     * @throws VestibuleException the error with which the server ends the stream, or why it broke off.
     */
    suspend fun next(): JSONObject? {
        val head = take(Envelope.HEAD_BYTES)
        val length = Envelope.length(head)
        val flags = head[0].toInt()
        if (length < 0 || flags and Envelope.FLAG_COMPRESSED != 0) throw VestibuleException.badResponse(null, "not a stream of messages")
        val message = try {
            JSON.readObject(take(length))
        } catch (error: JSONException) {
            throw VestibuleException.badResponse(null, error.message.orEmpty())
        }
        if (flags and Envelope.FLAG_END == 0) return message
        val error = message.child("error") ?: return null
        throw ErrorReader.endOfStream(error) ?: VestibuleException.badResponse(null, "an error without a code")
    }

    fun close() = response.close()

    private suspend fun take(count: Int): ByteArray {
        while (pending.size < count) pending += try {
            response.read() ?: throw TransportException("the stream broke off", mayBeSent = true)
        } catch (error: IOException) {
            throw VestibuleException.network(error)
        }
        val taken = pending.copyOf(count)
        pending = pending.copyOfRange(count, pending.size)
        return taken
    }
}
