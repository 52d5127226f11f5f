package vestibule

import java.io.ByteArrayOutputStream
import java.io.IOException
import kotlin.time.Duration

/** A request over HTTP. */
public class HTTPRequest(
    public val method: String,
    public val url: String,
    /** Header fields. They have tokens: never log them. */
    public val headers: Map<String, String>,
    public val body: ByteArray?,
    /** The longest time without a byte from the server. */
    public val silenceMax: Duration,
    /** Whether the request does no harm if the transport sends it twice because a connection broke. */
    public val mayRepeat: Boolean,
) {
    /** Names the request without its header fields and body. */
    override fun toString(): String = "$method $url"
}

/** A response whose body is read in pieces. Its user closes it. */
public interface HTTPResponse {
    public val status: Int

    /** The value of a header field, or null. Case doesn't matter. */
    public fun header(name: String): String?

    /**
     * Returns the next piece of the body, or null at its end.
     *
     * @throws TransportException if the rest of the body can't be had.
     */
    public suspend fun read(): ByteArray?

    /** Frees the connection. Doesn't wait for the server. */
    public fun close()
}

/** Sends requests. The default is [SocketTransport]; an app may bring its own, such as one by OkHttp. */
public fun interface Transport {
    /**
     * Sends a request, and returns when the header fields of the response are there. Never follows redirects: the request has a token.
     * Cancellation closes the connection.
     *
     * @throws TransportException if there is no response.
     */
    public suspend fun send(request: HTTPRequest): HTTPResponse
}

/**
 * There is no whole response.
 *
 * @property mayBeSent false if nothing of the request has left the device.
 */
public class TransportException(message: String, public val mayBeSent: Boolean, cause: Throwable? = null) : IOException(message, cause)

/** A body is larger than its reader takes. */
internal class BodyTooLargeException : IOException("the body is too large")

/** Reads a whole body of at most [bytesMax] bytes, and closes the response. */
internal suspend fun HTTPResponse.readAll(bytesMax: Int): ByteArray {
    try {
        val body = ByteArrayOutputStream()
        while (true) {
            val piece = read() ?: return body.toByteArray()
            if (body.size() + piece.size > bytesMax) throw BodyTooLargeException()
            body.write(piece, 0, piece.size)
        }
    } finally {
        close()
    }
}
