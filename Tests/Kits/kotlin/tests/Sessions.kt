package vestibule.tests

import java.io.IOException
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import vestibule.CallOptions
import vestibule.Credentials
import vestibule.ErrorAction
import vestibule.FileStore
import vestibule.HTTPResponse
import vestibule.KitErrorCode
import vestibule.MemoryStore
import vestibule.SessionState
import vestibule.SessionStore
import vestibule.Transport
import vestibule.Vestibule
import vestibule.account
import vestibule.auth
import vestibule.base64url
import vestibule.beginSignIn
import vestibule.finishSignIn
import vestibule.linkProvider
import vestibule.normalizedServerURL
import vestibule.signIn
import vestibule.tests.Attacks.within

/** Who is signed in, and what may end it: beside the cases of all kits. */
internal object Sessions {
    val tests: List<Pair<String, suspend () -> Unit>> = listOf(
        "address" to ::`an address is the same however it is written, and has TLS`,
        "sign-out" to ::`a sign-out whose caller is cancelled is done`,
        "held lock at a sign-out" to ::`a sign-out that reached its deadline goes on`,
        "callback" to ::`a sign-in by the page whose caller is cancelled is stored`,
        "page" to ::`parameters go to the page, and an old code is INVALID_GRANT`,
        "refused token" to ::`a token that the backend has refused is replaced`,
        "closed" to ::`a closed client says so`,
        "transport" to ::`what an own transport throws is an error of the network`,
        "store" to ::`an error of the store has no text of the store's`,
        "redirected refresh" to ::`a redirected refresh is not repeated`,
        "slow refresh" to ::`a refresh that hangs is tried again and lets others in`,
        "link" to ::`a link of one user doesn't sign out the next`,
    )

    private val credentials = Credentials("apple", idToken = "token-of-apple")

    private fun user(number: Int) =
        """{"tokens":{"accessToken":"access-$number","refreshToken":"refresh-$number","expiresInSeconds":600,""" +
            """"userId":"user-$number","sessionId":"session-$number"}}"""

    suspend fun `an address is the same however it is written, and has TLS`() {
        val same = listOf(
            "https://id.example.com", "https://id.example.com/", "HTTPS://ID.Example.com", "https://id.example.com:443/",
            " https://id.example.com//",
        )
        for (url in same) check(normalizedServerURL(url) == "https://id.example.com") { url }
        check(same.map { Vestibule(it, MemoryStore(), clientId = "app").key }.toSet() == setOf(Vestibule(same[0], MemoryStore()).key))
        check(normalizedServerURL("https://example.com:8443/Id/") == "https://example.com:8443/Id")
        for (host in listOf("localhost", "127.0.0.1", "[::1]", "10.0.2.2")) check(normalizedServerURL("http://$host:1") == "http://$host:1")
        val rejected = listOf(
            "http://id.example.com", "http://127.0.0.1.example.com", "http://10.0.2.20", "http://localhost.example.com", "ftp://localhost",
            "https://", "id.example.com", "", "https://user@id.example.com", "https://id.example.com?x=1", "https://id.example.com#x",
            "http://127.0.0.1@evil.example.com",
        )
        for (url in rejected) {
            check(runCatching { Vestibule(url, MemoryStore()) }.exceptionOrNull() is IllegalArgumentException) { url }
        }
    }

    suspend fun `a sign-out whose caller is cancelled is done`() {
        val store = MemoryStore()
        val (server, client) = Attacks.signedIn(store) { _, output ->
            Thread.sleep(200)
            output.respond("200 OK", "{}", JSON_TYPE)
        }
        coroutineScope {
            val leaving = async(start = CoroutineStart.UNDISPATCHED) { client.signOut() }
            leaving.cancel()
        }
        withTimeout(5.seconds) { client.states.first { it is SessionState.SignedOut } }
        withTimeout(5.seconds) { while (server.requests.none { it.path.endsWith("SignOut") }) client.state().also { delay(20) } }
    }

    suspend fun `a sign-out that reached its deadline goes on`() {
        val store = MemoryStore()
        val (_, client) = Attacks.signedIn(store) { _, output -> output.respond("200 OK", "{}", JSON_TYPE) }
        coroutineScope {
            val holder = launch(start = CoroutineStart.UNDISPATCHED) { store.withLock("${client.key}.json") { delay(1000) } }
            within(900) { check(failure { client.signOut(CallOptions(200.milliseconds)) }.code == KitErrorCode.TIMEOUT) }
            check(client.state() is SessionState.SignedIn)
            holder.join()
        }
        withTimeout(5.seconds) { client.states.first { it is SessionState.SignedOut } }
    }

    /** A server whose page signs in `user-1`, after a while. */
    private fun pageServer(answer: (String) -> Pair<String, String>) = HostileServer { request, output ->
        Thread.sleep(200)
        val (status, body) = answer(request.body)
        output.respond(status, body, JSON_TYPE)
    }

    private fun parameter(page: String, name: String) = Regex("[?&]$name=([^&]+)").find(page)?.groupValues?.get(1)

    private fun callback(server: HostileServer, page: String) =
        "com.example.shop:/callback?state=${parameter(page, "state")}&code=c&iss=${java.net.URLEncoder.encode(server.url, "UTF-8")}"

    suspend fun `a sign-in by the page whose caller is cancelled is stored`() {
        var claims = ""
        val server = pageServer {
            "200 OK" to """{"access_token":"a","refresh_token":"r","expires_in":600,"id_token":"h.${base64url(claims.toByteArray())}.s"}"""
        }
        val client = Vestibule(server.url, MemoryStore(), clientId = "shop")
        val page = client.beginSignIn("com.example.shop:/callback")
        claims = """{"iss":"${server.url}","aud":"shop","sub":"user-1","sid":"session-1","nonce":"${parameter(page, "nonce")}"}"""
        coroutineScope {
            val finish = async { client.finishSignIn(callback(server, page)) }
            while (server.requests.isEmpty()) delay(5)
            finish.cancelAndJoin()
        }
        withTimeout(5.seconds) { client.states.first { it is SessionState.SignedIn } }
        // The activity that is made anew has the callback once more.
        check(failure { client.finishSignIn(callback(server, page)) }.code == "WEB_STATE_INVALID")
        check(client.accessToken() == "a" && server.requests.size == 1)
    }

    suspend fun `parameters go to the page, and an old code is INVALID_GRANT`() {
        val server = pageServer { "400 Bad Request" to """{"error":"invalid_grant","error_description":"the code"}""" }
        val client = Vestibule(server.url, MemoryStore(), clientId = "shop")
        val page = client.beginSignIn("com.example.shop:/callback", parameters = mapOf("prompt" to "select_account", "state" to "mine"))
        check(parameter(page, "prompt") == "select_account" && parameter(page, "state") != "mine") { page }
        val error = failure { client.finishSignIn(callback(server, page)) }
        check(error.code == KitErrorCode.INVALID_GRANT && error.action == ErrorAction.SIGN_IN_AGAIN) { "$error" }
    }

    suspend fun `a token that the backend has refused is replaced`() {
        val (server, client) = Attacks.signedIn { _, output -> output.respond("200 OK", tokens(2), JSON_TYPE) }
        check(client.accessToken() == "access-1")
        val two = coroutineScope { List(2) { async { client.accessToken(insteadOf = "access-1") } }.map { it.await() } }
        check(two == listOf("access-2", "access-2") && client.accessToken(insteadOf = "access-1") == "access-2") { "$two" }
        check(server.requests.count { it.path.endsWith("RefreshSession") } == 1)
    }

    suspend fun `a closed client says so`() {
        val (_, client) = Attacks.signedIn { _, _ -> Thread.sleep(60_000) }
        coroutineScope {
            val refresh = async { runCatching { client.refresh() }.exceptionOrNull() }
            delay(200)
            client.close()
            val error = refresh.await()
            check(error is IllegalStateException && error !is CancellationException) { "$error" }
        }
        val calls = listOf<suspend () -> Any>({ client.account.getMe() }, { client.accessToken() }, { client.signOut() }, { client.refresh() })
        for (call in calls) {
            val error = runCatching { call() }.exceptionOrNull()
            check(error is IllegalStateException && error !is CancellationException) { "$error" }
        }
    }

    suspend fun `what an own transport throws is an error of the network`() {
        val count = AtomicInteger()
        val client = Vestibule("https://id.example.com", MemoryStore(), transport = Transport {
            count.incrementAndGet()
            throw IOException("of OkHttp")
        })
        check(failure { client.signIn(credentials) }.code == KitErrorCode.NETWORK && count.get() == 3) { "${count.get()}" }
        // It isn't known whether it was sent.
        check(failure { client.auth.createChallenge("google") }.code == KitErrorCode.NETWORK && count.get() == 4)
        val broken = Vestibule("https://id.example.com", MemoryStore(), transport = Transport {
            object : HTTPResponse {
                override val status = 200

                override fun header(name: String) = "application/json"

                override suspend fun read(): ByteArray? = throw IOException("of OkHttp")

                override fun close() = Unit
            }
        })
        check(failure { broken.auth.createChallenge("google") }.code == KitErrorCode.NETWORK)
        check(failure { broken.signIn(credentials) }.code == KitErrorCode.NETWORK)
    }

    suspend fun `an error of the store has no text of the store's`() {
        val store = object : SessionStore by MemoryStore() {
            override suspend fun read(key: String): String? = throw IOException("the value is refresh-1")
        }
        val error = failure { Vestibule("https://id.example.com", store).accessToken() }
        check(error.code == KitErrorCode.STORE_FAILED && error.cause == null && "refresh-1" !in error.stackTraceToString()) { "$error" }
        check("java.io.IOException" in error.message.orEmpty()) { "$error" }
    }

    suspend fun `a redirected refresh is not repeated`() {
        val (server, client) = Attacks.signedIn { _, output -> output.respond("302 Found", "", "location: https://portal.example.com/") }
        check(failure { client.refresh() }.code == KitErrorCode.BAD_RESPONSE && client.state() is SessionState.SignedIn)
        check(server.requests.count { it.path.endsWith("RefreshSession") } == 1)
    }

    suspend fun `a refresh that hangs is tried again and lets others in`() {
        val count = AtomicInteger()
        val (server, client) = Attacks.signedIn(FileStore(Attacks.folder())) { request, output ->
            if (request.path.endsWith("RefreshSession") && count.incrementAndGet() == 1) Thread.sleep(60_000)
            output.respond("200 OK", tokens(2), JSON_TYPE)
        }
        within(14_000) { check(client.refresh() == "access-2") }
        check(server.requests.filter { it.path.endsWith("RefreshSession") }.all { "refresh-1" in it.body } && count.get() == 2)
    }

    suspend fun `a link of one user doesn't sign out the next`() {
        val number = AtomicInteger()
        val server = HostileServer { request, output ->
            when (request.path.substringAfterLast('/')) {
                "SignInWithProvider" -> output.respond("200 OK", user(number.incrementAndGet()), JSON_TYPE)
                "LinkProvider" -> {
                    Thread.sleep(400)
                    output.respond("200 OK", """{"providers":[],"session":${user(9)}}""", JSON_TYPE)
                }
                else -> output.respond("503 Service Unavailable", "")
            }
        }
        val client = Vestibule(server.url, MemoryStore())
        client.signIn(credentials)
        coroutineScope {
            val link = async { client.linkProvider(Credentials("google", idToken = "g")) }
            while (server.requests.none { it.path.endsWith("LinkProvider") }) delay(5)
            client.signIn(Credentials("apple", idToken = "another"))
            link.await()
        }
        check((client.state() as SessionState.SignedIn).userId == "user-2")
        // The session that nobody has is ended.
        check(client.records.read().signOuts.any { it.refreshToken == "refresh-9" })
        client.linkProvider(Credentials("google", idToken = "g"))
        check((client.state() as SessionState.SignedIn).userId == "user-9")
    }
}
