package vestibule

import java.io.IOException
import java.net.InetAddress
import java.net.InetSocketAddress
import java.net.Proxy
import java.net.ProxySelector
import java.net.Socket
import java.net.URI
import java.util.concurrent.TimeUnit
import javax.net.ssl.SSLSocket
import javax.net.ssl.SSLSocketFactory
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * Sends requests by HTTP/1.1 over the platform's sockets and TLS, through the proxies that the platform is configured for.
 *
 * It is not `HttpURLConnection`, because that of the JDK sends a POST again by itself, loses the body of a 401, takes a head that
 * broke off for a whole one, and can't be closed while it reads. Blocking calls are made on `Dispatchers.IO`. A coroutine that is
 * cancelled goes on at once, and its connection is closed.
 */
public class SocketTransport(private val connectTimeout: Duration = 15.seconds) : Transport {
    private val idle = IdleConnections()

    override suspend fun send(request: HTTPRequest): HTTPResponse {
        val origin = try {
            Origin.of(URI(request.url))
        } catch (error: Exception) {
            throw TransportException("not a URL of HTTP", mayBeSent = false, error)
        }
        if (!origin.isSecure && !CleartextPolicy.permits(origin.name)) {
            throw TransportException("the app's network security configuration forbids HTTP without TLS", mayBeSent = false)
        }
        return SocketExchange(origin, idle, connectTimeout).send(request)
    }
}

/** Android's `NetworkSecurityPolicy`, which sockets don't ask by themselves. A JVM has none. */
internal object CleartextPolicy {
    private const val NAME = "android.security.NetworkSecurityPolicy"

    fun permits(host: String): Boolean {
        val policy = try {
            Class.forName(NAME)
        } catch (_: ClassNotFoundException) {
            return true
        }
        val instance = policy.getMethod("getInstance").invoke(null)
        return policy.getMethod("isCleartextTrafficPermitted", String::class.java).invoke(instance, host) as Boolean
    }
}

/** Where a request goes. */
internal data class Origin(val isSecure: Boolean, val host: String, val port: Int) {
    /** The host as a URL has it. */
    val authority: String get() = if (port == (if (isSecure) 443 else 80)) host else "$host:$port"

    /** The host as resolvers and certificates have it. */
    val name: String get() = host.removeSurrounding("[", "]")

    companion object {
        fun of(url: URI): Origin {
            val isSecure = when (url.scheme?.lowercase()) {
                "https" -> true
                "http" -> false
                else -> throw IllegalArgumentException("not HTTP")
            }
            return Origin(isSecure, requireNotNull(url.host).lowercase(), if (url.port > 0) url.port else if (isSecure) 443 else 80)
        }
    }
}

/** Connections that wait for another request, for less time than servers and proxies keep them. */
internal class IdleConnections {
    private class Idle(val origin: Origin, val connection: HTTPConnection, val since: Long)

    private val connections = ArrayDeque<Idle>()

    fun take(origin: Origin): HTTPConnection? = synchronized(connections) {
        expire()
        connections.lastOrNull { it.origin == origin }?.also { connections.remove(it) }?.connection
    }

    fun put(origin: Origin, connection: HTTPConnection): Unit = synchronized(connections) {
        expire()
        if (connections.size == COUNT_MAX) connections.removeFirst().connection.close()
        connections.addLast(Idle(origin, connection, System.nanoTime()))
    }

    private fun expire() {
        while (System.nanoTime() - (connections.firstOrNull() ?: return).since > IDLE_NANOSECONDS) {
            connections.removeFirst().connection.close()
        }
    }

    private companion object {
        const val COUNT_MAX = 4
        val IDLE_NANOSECONDS = TimeUnit.SECONDS.toNanos(10)
    }
}

/** One request and its response. */
private class SocketExchange(
    private val origin: Origin, private val idle: IdleConnections, private val connectTimeout: Duration,
) : HTTPResponse {
    private val lock = Any()
    private var socket: Socket? = null
    private var isClosed = false
    private var connection: HTTPConnection? = null
    private var fields: Map<String, String> = emptyMap()
    override var status: Int = 0
        private set

    suspend fun send(request: HTTPRequest): HTTPResponse = blocking {
        val silence = milliseconds(request.silenceMax)
        // One that waits may be closed by the server at this moment, so that it isn't known whether the request arrived.
        val waiting = if (request.mayRepeat) idle.take(origin) else null
        val url = URI(request.url)
        var target = url.rawPath.ifEmpty { "/" } + (url.rawQuery?.let { "?$it" } ?: "")
        val connection = waiting ?: try {
            val proxy = proxy(url)
            if (!origin.isSecure && proxy.type() == Proxy.Type.HTTP) target = request.url
            open(proxy, minOf(milliseconds(connectTimeout), silence))
        } catch (error: IOException) {
            throw TransportException("no connection", mayBeSent = false, error)
        }
        hold(connection)
        try {
            val (status, fields) = connection.send(request, target, origin.authority, silence)
            this.status = status
            this.fields = fields
        } catch (error: IOException) {
            connection.close()
            throw TransportException("no response", mayBeSent = true, error)
        }
        this
    }

    override fun header(name: String): String? = fields[name.lowercase()]

    override suspend fun read(): ByteArray? {
        val connection = connection ?: return null
        return blocking {
            val piece = try {
                connection.read()
            } catch (error: IOException) {
                throw TransportException("no whole response", mayBeSent = true, error)
            }
            if (piece == null) finish(connection)
            piece
        }
    }

    override fun close(): Unit = synchronized(lock) {
        isClosed = true
        connection?.close()
        connection = null
        // While it is being opened.
        try {
            socket?.close()
        } catch (_: IOException) {
            // Then it is closed.
        }
        socket = null
    }

    private fun finish(connection: HTTPConnection): Unit = synchronized(lock) {
        if (isClosed || !connection.isReusable) return close()
        this.connection = null
        socket = null
        idle.put(origin, connection)
    }

    private fun hold(connection: HTTPConnection): Unit = synchronized(lock) {
        if (isClosed) {
            connection.close()
            throw TransportException("cancelled", mayBeSent = false)
        }
        this.connection = connection
    }

    private fun hold(socket: Socket): Socket = synchronized(lock) {
        this.socket = socket
        if (isClosed) {
            close()
            throw IOException("cancelled")
        }
        socket
    }

    // Opening a connection

    private fun proxy(url: URI): Proxy =
        ProxySelector.getDefault()?.select(URI(url.scheme, null, url.host, origin.port, "/", null, null))?.firstOrNull() ?: Proxy.NO_PROXY

    private fun open(proxy: Proxy, timeoutMilliseconds: Int): HTTPConnection {
        val raw = if (proxy.type() == Proxy.Type.HTTP) {
            val address = proxy.address() as InetSocketAddress
            connect(address.hostString, address.port, Proxy.NO_PROXY, timeoutMilliseconds)
        } else {
            connect(origin.name, origin.port, proxy, timeoutMilliseconds)
        }
        raw.tcpNoDelay = true
        if (!origin.isSecure) return HTTPConnection(raw, raw)
        raw.soTimeout = timeoutMilliseconds
        if (proxy.type() == Proxy.Type.HTTP) HTTPConnection(raw, raw).openTunnel("${origin.host}:${origin.port}")
        val secure = (SSLSocketFactory.getDefault() as SSLSocketFactory).createSocket(raw, origin.name, origin.port, true) as SSLSocket
        // The certificate must be this host's.
        secure.sslParameters = secure.sslParameters.apply { endpointIdentificationAlgorithm = "HTTPS" }
        secure.startHandshake()
        return HTTPConnection(raw, secure)
    }

    /** Tries the addresses of a host one after the other. */
    private fun connect(host: String, port: Int, proxy: Proxy, timeoutMilliseconds: Int): Socket {
        // A SOCKS proxy resolves names itself.
        val addresses = if (proxy.type() == Proxy.Type.SOCKS) {
            listOf(InetSocketAddress.createUnresolved(host, port))
        } else {
            InetAddress.getAllByName(host).map { InetSocketAddress(it, port) }
        }
        var failure: IOException? = null
        for (address in addresses) {
            val socket = hold(Socket(proxy))
            try {
                socket.connect(address, timeoutMilliseconds)
                return socket
            } catch (error: IOException) {
                socket.close()
                failure = failure ?: error
            }
        }
        throw failure ?: IOException("no address")
    }

    /**
     * A socket's timeout for what a deadline leaves. 0 would mean forever. It comes after the deadline, which would otherwise be a failure
     * of the network to the caller.
     */
    private fun milliseconds(duration: Duration): Int =
        (duration.inWholeMilliseconds + BEHIND_DEADLINE).coerceIn(1, Int.MAX_VALUE.toLong()).toInt()

    /** Does blocking work on another thread. On cancellation the caller goes on at once, and the connection is closed. */
    private suspend fun <T> blocking(work: () -> T): T = suspendCancellableCoroutine { continuation ->
        continuation.invokeOnCancellation { close() }
        IO.execute {
            val result = runCatching(work)
            result.fold({ value -> continuation.resume(value) { _, _, _ -> close() } }, continuation::resumeWithException)
        }
    }

    private companion object {
        /** In milliseconds. */
        const val BEHIND_DEADLINE = 100L
        val IO = Dispatchers.IO.asExecutor()
    }
}
