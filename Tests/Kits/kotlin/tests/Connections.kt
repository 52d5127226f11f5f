package vestibule.tests

import java.io.File
import java.io.IOException
import java.net.InetSocketAddress
import java.net.Proxy
import java.net.ProxySelector
import java.net.ServerSocket
import java.net.Socket
import java.net.SocketAddress
import java.net.URI
import java.security.KeyStore
import java.util.concurrent.CopyOnWriteArrayList
import javax.net.ssl.KeyManagerFactory
import javax.net.ssl.SSLContext
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import vestibule.CallOptions
import vestibule.Credentials
import vestibule.KitErrorCode
import vestibule.MemoryStore
import vestibule.Vestibule
import vestibule.auth
import vestibule.events
import vestibule.signIn

/** TLS and proxies. */
internal object Connections {
    private const val PASSWORD = "secret"
    private val brief = CallOptions(deadline = 5.seconds)

    /** The folder with the key stores. */
    lateinit var keys: File

    /** A socket that servers of TLS accept on. */
    private fun secure(name: String): ServerSocket {
        val store = KeyStore.getInstance("PKCS12").apply { File(keys, "$name.p12").inputStream().use { load(it, PASSWORD.toCharArray()) } }
        val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm()).apply { init(store, PASSWORD.toCharArray()) }
        val context = SSLContext.getInstance("TLS").apply { init(factory.keyManagers, null, null) }
        return context.serverSocketFactory.createServerSocket(0)
    }

    suspend fun `only a certificate of the host is accepted`() {
        val good = HostileServer(secure("trusted")) { _, output -> output.respond("200 OK", "{\"nonce\":\"n\"}", JSON_TYPE) }
        suspend fun call(url: String) = Vestibule(url, MemoryStore()).auth.createChallenge("google", options = brief)
        check(call("https://localhost:${good.port}").nonce == "n")
        val other = HostileServer(secure("untrusted")) { _, output -> output.respond("200 OK", "{\"nonce\":\"n\"}", JSON_TYPE) }
        // The certificate names localhost alone, and the second one is nobody's.
        for (url in listOf("https://127.0.0.1:${good.port}", "https://localhost:${other.port}")) {
            val error = failure { call(url) }
            check(error.code == KitErrorCode.NETWORK) { "$url: $error" }
        }
        // A port without TLS.
        val clear = HostileServer { _, output -> output.respond("200 OK", "{}", JSON_TYPE) }
        check(failure { call("https://localhost:${clear.port}") }.code in listOf(KitErrorCode.NETWORK, KitErrorCode.TIMEOUT))
        check(good.requests.size == 1 && other.requests.isEmpty()) { "a request was sent before the certificate was checked" }
        for (url in listOf("http://id.example.com", "ftp://localhost/", "localhost", "file:///etc/passwd", "http://localhost.example.com")) {
            check(runCatching { Vestibule(url, MemoryStore()) }.exceptionOrNull() is IllegalArgumentException) { url }
        }
    }

    suspend fun `a stream over TLS is closed at once`() {
        val server = HostileServer(secure("trusted")) { request, output ->
            if (request.path.endsWith("SignInWithProvider")) {
                output.respond("200 OK", tokens(1), JSON_TYPE)
            } else {
                output.write("HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\n\r\n".toByteArray())
                output.flush()
                Thread.sleep(60_000)
            }
        }
        val client = Vestibule("https://localhost:${server.port}", MemoryStore())
        client.signIn(Credentials("apple", idToken = "t"))
        coroutineScope {
            val watch = launch { client.events().collect { } }
            while (server.requests.size < 2) delay(10)
            delay(100)
            Attacks.within(500) { watch.cancelAndJoin() }
        }
        Attacks.closed(server)
    }

    suspend fun `requests go through the proxy`() {
        val heads = CopyOnWriteArrayList<String>()
        val proxy = ServerSocket(0)
        thread(isDaemon = true) { while (true) proxy.accept().let { thread(isDaemon = true) { forward(it, heads) } } }
        val before = ProxySelector.getDefault()
        ProxySelector.setDefault(object : ProxySelector() {
            override fun select(url: URI): List<Proxy> = listOf(Proxy(Proxy.Type.HTTP, InetSocketAddress("127.0.0.1", proxy.localPort)))

            override fun connectFailed(url: URI, address: SocketAddress, error: IOException) = Unit
        })
        try {
            val secure = HostileServer(secure("trusted")) { _, output -> output.respond("200 OK", "{\"nonce\":\"tls\"}", JSON_TYPE) }
            check(Vestibule("https://localhost:${secure.port}", MemoryStore()).auth.createChallenge("google", options = brief).nonce == "tls")
            check(heads.single() == "CONNECT localhost:${secure.port} HTTP/1.1") { "$heads" }
            heads.clear()
            val error = failure { Vestibule("http://10.0.2.2", MemoryStore()).auth.createChallenge("google", options = brief) }
            check(error.status == 502 && heads.first().startsWith("POST http://10.0.2.2/vestibule.app.v1.")) { "$error $heads" }
        } finally {
            ProxySelector.setDefault(before)
        }
    }

    /** Forwards a tunnel, and answers anything else with 502. */
    private fun forward(client: Socket, heads: MutableList<String>) {
        try {
            val input = client.getInputStream()
            fun line() = generateSequence { input.read().takeIf { it >= 0 && it != '\n'.code }?.toChar() }.joinToString("").removeSuffix("\r")
            val first = line().also { heads += it }
            while (line().isNotEmpty()) Unit
            if (!first.startsWith("CONNECT")) return client.getOutputStream().respond("502 Bad Gateway", "no")
            val server = Socket("localhost", first.substringAfter(':').substringBefore(' ').toInt())
            client.getOutputStream().apply { write("HTTP/1.1 200 OK\r\n\r\n".toByteArray()) }.flush()
            thread(isDaemon = true) { runCatching { server.getInputStream().copyTo(client.getOutputStream()) } }
            input.copyTo(server.getOutputStream())
        } catch (_: IOException) {
            // Both have gone.
        }
    }
}
