package vestibule.tests

import java.io.File
import java.io.IOException
import java.nio.file.Files
import java.util.concurrent.atomic.AtomicInteger
import kotlin.system.exitProcess
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.withTimeoutOrNull
import vestibule.CallOptions
import vestibule.Credentials
import vestibule.ErrorAction
import vestibule.ErrorTexts
import vestibule.FileStore
import vestibule.GroupOpenness
import vestibule.GroupRole
import vestibule.JSON
import vestibule.JSONException
import vestibule.KitErrorCode
import vestibule.MemoryStore
import vestibule.SignInNonce
import vestibule.SessionState
import vestibule.SessionStore
import vestibule.Vestibule
import vestibule.VestibuleException
import vestibule.account
import vestibule.auth
import vestibule.beginSignIn
import vestibule.events
import vestibule.finishSignIn
import vestibule.groups
import vestibule.signIn

/** What hostile servers, failing stores and impatient callers do to the kit. Each test has a line on standard output. */
internal object Attacks {
    private val credentials = Credentials("apple", idToken = "token-of-apple")

    /** A client that is signed in with `access-1` at a server that then answers as `answer` does. */
    suspend fun signedIn(
        store: SessionStore = MemoryStore(), seconds: Int = 600, answer: (HostileServer.Request, java.io.OutputStream) -> Unit,
    ): Pair<HostileServer, Vestibule> {
        val server = HostileServer { request, output ->
            val isSignIn = request.path.endsWith("SignInWithProvider")
            if (isSignIn) output.respond("200 OK", tokens(1, seconds), JSON_TYPE) else answer(request, output)
        }
        val client = Vestibule(server.url, store)
        client.signIn(credentials)
        return server to client
    }

    private val brief = CallOptions(deadline = 1500.milliseconds)

    suspend fun `a redirect is not followed`() {
        val other = HostileServer { _, output -> output.respond("200 OK", "{}", JSON_TYPE) }
        for (status in listOf("301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect")) {
            val (server, client) = signedIn { _, output -> output.respond(status, "", "location: ${other.url}/steal") }
            check(failure { client.account.getMe(brief) }.code == KitErrorCode.BAD_RESPONSE)
            check(client.state() is SessionState.SignedIn)
            server.close()
        }
        check(other.requests.isEmpty()) { "the token went to another host" }
    }

    suspend fun `a page of a portal with 200 is no response, and no end of the session`() {
        val (server, client) = signedIn(seconds = 0) { _, output ->
            output.respond("200 OK", "<html>Sign in to the hotel", "content-type: text/html")
        }
        val error = failure { client.refresh(CallOptions(5.seconds)) }
        check(error.code == KitErrorCode.BAD_RESPONSE && error.action == ErrorAction.RETRY) { "$error" }
        check(client.state() is SessionState.SignedIn)
        check(server.requests.count { it.path.endsWith("RefreshSession") } == 3)
    }

    suspend fun `a body that never ends is cut off by its size`() {
        val (_, client) = signedIn { _, output ->
            output.write("HTTP/1.1 200 OK\r\n$JSON_TYPE\r\ntransfer-encoding: chunked\r\n\r\n".toByteArray())
            while (true) output.write("4000\r\n${"x".repeat(0x4000)}\r\n".toByteArray())
        }
        check(failure { client.account.getMe(CallOptions(20.seconds)) }.code == KitErrorCode.BAD_RESPONSE)
    }

    suspend fun `a body that drips ends at the deadline`() {
        val (server, client) = signedIn { _, output ->
            output.write("HTTP/1.1 200 OK\r\n$JSON_TYPE\r\ncontent-length: 1000\r\n\r\n".toByteArray())
            while (true) {
                output.write(' '.code)
                output.flush()
                Thread.sleep(20)
            }
        }
        within(3000) { check(failure { client.account.getMe(brief) }.code == KitErrorCode.TIMEOUT) }
        closed(server)
    }

    suspend fun `headers that never end`() {
        val (_, client) = signedIn { _, output ->
            output.write("HTTP/1.1 200 OK\r\n".toByteArray())
            while (true) output.write("x: ${"y".repeat(1000)}\r\n".toByteArray())
        }
        check(failure { client.groups.createGroupLink("g", options = CallOptions(10.seconds)) }.code == KitErrorCode.NETWORK)
        val (_, other) = signedIn { _, output ->
            output.write("HTTP/1.1 200 OK\r\nx: ".toByteArray())
            while (true) output.write("y".repeat(1000).toByteArray())
        }
        check(failure { other.groups.createGroupLink("g", options = CallOptions(10.seconds)) }.code == KitErrorCode.NETWORK)
    }

    suspend fun `malformed framing is no response`() {
        val heads = listOf(
            "HTTP/1.1 200 OK\r\ncontent-length: -1", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked",
            "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999", "HTTP/2 200 OK", "ICY 200 OK", "HTTP/1.1 99 What", "\u0000",
            "HTTP/1.1 200 OK\r\nno colon", "HTTP/1.1 200 OK\r\n : x", "HTTP/1.1 200 OK\r\ncontent-length: 1e3",
        )
        for (head in heads) {
            val (server, client) = signedIn { _, output ->
                output.write("$head\r\n$JSON_TYPE\r\n\r\n{}".toByteArray())
                output.close()
            }
            check(failure { client.groups.createGroupLink("g", options = brief) }.code == KitErrorCode.NETWORK) { head }
            server.close()
        }
        for (chunk in listOf("zz\r\n{}\r\n0\r\n\r\n", "-2\r\n{}\r\n", "fffffffff\r\n{}", "2\r\n{}X\r\n", "2\r\n{}\r\n")) {
            val (server, client) = signedIn { _, output ->
                output.write("HTTP/1.1 200 OK\r\n$JSON_TYPE\r\ntransfer-encoding: chunked\r\n\r\n$chunk".toByteArray())
                output.close()
            }
            check(failure { client.groups.createGroupLink("g", options = brief) }.code == KitErrorCode.NETWORK) { chunk }
            server.close()
        }
    }

    suspend fun `bombs of JSON are rejected`() {
        val bombs = listOf(
            "[".repeat(1_000_000), "{\"a\":".repeat(1_000_000), "\"" + "\\u0000".repeat(100), "{\"a\":1,\"a\":2}", "{\"a\":1e999}", "{} {}",
            "{\"a\":\"\\ud800\"}", "{\"a\":\"\u0001\"}", "{\"a\":01}", "{\"a\":.5}", "{\"a\":+1}", "{'a':1}", "{\"a\":tru}", "{\"a\":1,}", "[1]",
            "", "{\"profile\":5}", "{\"profile\":{\"missingFields\":[1]}}", "{\"profile\":{\"updatedAt\":\"yesterday\"}}",
            "{\"profile\":{\"revision\":{}}}",
            "{\"profile\":{\"phoneProven\":\"yes\"}}", "{\"a\":\"\\u12\"}", "{\"a\":\"\\x\"}", "{\"a",
        )
        for (bomb in bombs) {
            val (server, client) = signedIn { _, output -> output.respond("200 OK", bomb, JSON_TYPE) }
            val error = failure { client.account.getMe(brief) }
            check(error.code == KitErrorCode.BAD_RESPONSE) { "${bomb.take(40)}: $error" }
            server.close()
        }
        for (number in listOf("0", "-1", "1.5", "1e3", "9223372036854775807", "9223372036854775808")) JSON.readObject("{\"a\":$number}")
        // Cut at each place.
        val whole = """{"a":[1,-2.5e3,true,false,null,"\u00e4\n\ud83d\ude00"],"b":{"c":{}}}"""
        check(JSON.write(JSON.readObject(whole)) == """{"a":[1,-2500.0,true,false,null,"ä\u000a😀"],"b":{"c":{}}}""")
        for (end in 0 until whole.length) {
            try {
                JSON.readObject(whole.take(end))
                error("cut at $end")
            } catch (_: JSONException) {
                // As it should be.
            }
        }
    }

    suspend fun `a stream with a message that is too long, compressed or cut is made again`() {
        val count = AtomicInteger()
        val starts = listOf(
            "\u0000\u007f\u00ff\u00ff\u00ff", "\u0001\u0000\u0000\u0000\u0002{}", "\u0000\u0000\u0000\u0000\u0009{\"po",
            "\u0000\u0000\u0000\u0000\u0002[]",
        )
        val good = "{\"position\":\"7\",\"isReset\":true}"
        val (_, client) = signedIn { _, output ->
            val number = count.getAndIncrement()
            val start = starts.getOrElse(number) { "\u0000\u0000\u0000\u0000${good.length.toChar()}$good" }.toByteArray(Charsets.ISO_8859_1)
            output.write("HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n".toByteArray())
            output.write("${start.size.toString(16)}\r\n".toByteArray() + start + "\r\n".toByteArray())
            output.flush()
            if (number < starts.size) output.close()
        }
        val event = withTimeout(20.seconds) {
            var found: vestibule.WatchGroupsResponse? = null
            val watch = launch { client.events().collect { if (found == null) found = it } }
            while (found == null) delay(10)
            watch.cancelAndJoin()
            found
        }
        check(event.position == "7" && event.isReset && count.get() == starts.size + 1)
    }

    suspend fun `a stream whose consumer stops is closed at once`() {
        val (server, client) = signedIn { _, output ->
            output.write("HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\ntransfer-encoding: chunked\r\n\r\n".toByteArray())
            output.flush()
            Thread.sleep(60_000)
        }
        val watch = coroutineScope {
            val watch = launch { client.events().collect { } }
            while (server.requests.size < 2) delay(10)
            delay(100)
            within(500) { watch.cancelAndJoin() }
            watch
        }
        check(watch.isCancelled)
        closed(server)
    }

    suspend fun `what a collector throws ends the stream and is its own`() {
        val good = "{\"position\":\"7\"}"
        val (_, client) = signedIn { _, output ->
            val message = ("\u0000\u0000\u0000\u0000${good.length.toChar()}$good").toByteArray(Charsets.ISO_8859_1)
            output.write("HTTP/1.1 200 OK\r\ncontent-type: application/connect+json\r\n\r\n".toByteArray() + message)
            output.flush()
            Thread.sleep(60_000)
        }
        val thrown = VestibuleException("NETWORK", "of another call", ErrorAction.RETRY)
        try {
            withTimeout(5.seconds) { client.events().collect { throw thrown } }
        } catch (error: VestibuleException) {
            check(error === thrown)
            return
        }
        error("no end")
    }

    suspend fun `cancelled at each moment of a call and of a refresh, the session stays`() {
        val number = AtomicInteger(1)
        val (server, client) = signedIn(FileStore(folder()), seconds = 0) { request, output ->
            Thread.sleep(3)
            if (request.path.endsWith("RefreshSession")) {
                // A token that was stored is the only one that comes.
                check("refresh-${number.get()}" in request.body) { "${request.body} and not ${number.get()}" }
                output.respond("200 OK", tokens(number.incrementAndGet(), 0), JSON_TYPE)
            } else {
                output.respond("200 OK", "{\"profile\":{}}", JSON_TYPE)
            }
        }
        for (microseconds in 0..40_000 step 250) {
            coroutineScope {
                val call = async(start = CoroutineStart.UNDISPATCHED) { client.account.getMe() }
                val start = TimeSource.Monotonic.markNow()
                while (start.elapsedNow().inWholeMicroseconds < microseconds) Unit
                call.cancel()
                within(1000) { call.join() }
            }
        }
        check(client.state() is SessionState.SignedIn)
        withTimeout(10.seconds) { client.account.getMe() }
        check(server.requests.count { it.path.endsWith("RefreshSession") } == number.get() - 1)
    }

    suspend fun `a store that fails keeps the session, and the token that was stored`() {
        val store = FailingStore()
        val sent = java.util.concurrent.CopyOnWriteArrayList<String>()
        val (_, client) = signedIn(store) { request, output ->
            if (request.path.endsWith("RefreshSession")) {
                sent += request.body
                output.respond("200 OK", tokens(2), JSON_TYPE)
            } else {
                output.respond("200 OK", "{}", JSON_TYPE)
            }
        }
        store.failing = "write"
        repeat(2) { check(failure { client.refresh() }.code == KitErrorCode.STORE_FAILED) }
        store.failing = "read"
        check(failure { client.accessToken() }.code == KitErrorCode.STORE_FAILED)
        store.failing = "lock"
        check(failure { client.refresh() }.code == KitErrorCode.STORE_FAILED)
        check(failure { client.signOut() }.code == KitErrorCode.STORE_FAILED)
        store.failing = ""
        check(client.accessToken() == "access-1") { "a token that was not stored" }
        check(client.refresh() == "access-2" && sent.size == 3 && sent.all { "refresh-1" in it }) { "$sent" }
        check(client.state() is SessionState.SignedIn)
    }

    suspend fun `a lock that is held ends a call at its deadline, and its holder may be killed`() {
        val folder = folder()
        val (_, client) = signedIn(FileStore(folder)) { _, output -> output.respond("200 OK", tokens(2), JSON_TYPE) }
        val key = folder.list()!!.single { it.endsWith(".json") }
        val holder = ProcessBuilder(
            System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path"), "vestibule.tests.AttacksKt", "hold",
            folder.path, key,
        ).start()
        check(holder.inputStream.bufferedReader().readLine() == "held")
        within(1500) { check(failure { client.refresh(CallOptions(300.milliseconds)) }.code == KitErrorCode.TIMEOUT) }
        check(client.accessToken() == "access-1") { "a fresh token needs no lock" }
        val waiting = coroutineScope {
            val refresh = async { client.refresh(CallOptions(20.seconds)) }
            delay(200)
            check(!refresh.isCompleted)
            holder.destroyForcibly()
            refresh.await()
        }
        check(waiting == "access-2")
    }

    suspend fun `two stores on one folder under two names share one lock`() {
        val folder = folder()
        val link = File(folder.path + ".link")
        Files.createSymbolicLink(link.toPath(), folder.toPath())
        val inside = AtomicInteger()
        coroutineScope {
            repeat(40) { number ->
                launch(kotlinx.coroutines.Dispatchers.IO) {
                    FileStore(if (number % 2 == 0) folder else link).withLock("key") {
                        check(inside.incrementAndGet() == 1) { "two at once" }
                        delay(5)
                        inside.decrementAndGet()
                    }
                }
            }
        }
        // Waiting for a lock can be cancelled, and leaves nothing locked.
        FileStore(folder).withLock("key") {
            coroutineScope {
                val waiting = launch { FileStore(link).withLock("key") { } }
                delay(50)
                within(500) { waiting.cancelAndJoin() }
            }
        }
        withTimeout(1000) { FileStore(link).withLock("key") { } }
    }

    suspend fun `no token is in any description or error`() {
        val (server, client) = signedIn { _, output -> output.respond("401 Unauthorized", errorOf("ACCESS_TOKEN_EXPIRED"), JSON_TYPE) }
        val errors = listOf(failure { client.account.getMe(brief) }, failure { client.refresh(brief) })
        val texts = errors.map { it.stackTraceToString() } + listOf(
            credentials.toString(), SignInNonce.create().toString(), client.session.record().toString(), client.session.record().session.toString(),
            client.session.record().session?.signOut.toString(), vestibule.CreateGroupLinkResponse(token = "secret-token").toString(),
            vestibule.HTTPRequest("POST", server.url, mapOf("authorization" to "Bearer access-1"), null, 1.seconds, true).toString(),
        )
        for (text in texts) check(listOf("access-1", "refresh-1", "token-of-apple", "secret-token").none { it in text }) { text }
        // A token with a line break would be a header field of its own.
        val (_, injected) = signedIn { _, output -> output.respond("200 OK", "{}", JSON_TYPE) }
        check(failure { injected.route("GET", "/x", null, "text/plain\r\nx: y", brief) }.code == KitErrorCode.NETWORK)
    }

    suspend fun `the callback of another sign-in or another server is refused`() {
        val client = Vestibule("https://id.example.com", MemoryStore(), clientId = "shop")
        val page = client.beginSignIn("com.example.shop:/callback")
        val state = Regex("state=([^&]+)").find(page)!!.groupValues[1]
        check("code_challenge_method=S256" in page && "scope=openid+profile+email+offline_access" in page)
        val callbacks = listOf(
            "", "com.example.shop:/callback", "com.example.shop:/callback?state=other&code=c&iss=https%3A%2F%2Fid.example.com",
            "com.example.shop:/callback?state=$state&code=c", "com.example.shop:/callback?state=$state&code=c&iss=https%3A%2F%2Fevil.example.com",
            "com.example.shop:/callback?state=$state&state=$state&code=c&iss=https%3A%2F%2Fid.example.com", "%%%", "http://[",
        )
        for (callback in callbacks) check(failure { client.finishSignIn(callback) }.code == "WEB_STATE_INVALID") { callback }
        // The one that was begun is still good.
        val back = "com.example.shop:/callback?state=$state&error=access_denied&iss=https%3A%2F%2Fid.example.com"
        val denied = failure { client.finishSignIn(back) }
        check(denied.code == KitErrorCode.CANCELLED)
    }

    suspend fun `values of tomorrow can be read and not sent`() {
        val (_, client) = signedIn { _, output ->
            val group = """{"openness":"GROUP_OPENNESS_OF_TOMORROW","role":"GROUP_ROLE_ADMIN","createdAt":"2026-11-27T22:00:00.5+02:00","new":{}}"""
            output.respond("200 OK", """{"group":$group,"more":[1]}""", JSON_TYPE)
        }
        val group = client.groups.getGroup("g", brief)
        check(group.openness == GroupOpenness.UNRECOGNIZED && group.role == GroupRole.ADMIN && group.name == "") { "$group" }
        check(group.createdAt == java.time.Instant.parse("2026-11-27T20:00:00.500Z")) { "$group" }
        try {
            client.groups.createGroup("name", GroupOpenness.UNRECOGNIZED)
            error("sent")
        } catch (_: IllegalArgumentException) {
            // As it should be.
        }
        check(ErrorTexts.text("GROUP_FULL", "de-AT").contains("Gruppe") && ErrorTexts.text("GROUP_FULL", "xx", "de").contains("Gruppe"))
        check(ErrorTexts.text("GROUP_FULL") == "This group is full." && ErrorTexts.text("OF_TOMORROW").isNotEmpty())
    }

    suspend fun `nothing is sent before the first use, and nothing is open after it`() {
        val server = HostileServer { _, output -> output.respond("200 OK", "{}", JSON_TYPE, "connection: close") }
        val client = Vestibule(server.url, MemoryStore())
        delay(100)
        check(server.requests.isEmpty() && server.openCount == 0)
        check(withTimeoutOrNull(50) { client.states.collect { } } == null)
        client.auth.createChallenge("google")
        closed(server)
    }

    suspend fun within(milliseconds: Long, action: suspend () -> Unit) {
        val start = TimeSource.Monotonic.markNow()
        action()
        check(start.elapsedNow() < milliseconds.milliseconds) { "it took ${start.elapsedNow()}" }
    }

    /** All connections are closed within a moment. */
    suspend fun closed(server: HostileServer): Unit = try {
        withTimeout(2.seconds) { while (server.openCount > 1) delay(20) }
    } catch (error: kotlinx.coroutines.TimeoutCancellationException) {
        throw IllegalStateException("${server.openCount} connections are open", error)
    }

    fun folder(): File = Files.createTempDirectory("vestibule-attacks").toFile().also { it.deleteOnExit() }

    /** A store one of whose operations fails. */
    private class FailingStore(private val store: SessionStore = MemoryStore()) : SessionStore {
        @Volatile var failing = ""

        private fun fail(operation: String) {
            if (failing == operation) throw IOException("the disk")
        }

        override suspend fun read(key: String): String? = store.read(key).also { fail("read") }

        override suspend fun write(key: String, text: String) {
            fail("write")
            store.write(key, text)
        }

        override suspend fun remove(key: String): Unit = store.remove(key)

        override suspend fun <T> withLock(key: String, action: suspend () -> T): T {
            fail("lock")
            return store.withLock(key, action)
        }
    }
}

internal fun main(arguments: Array<String>) = runBlocking {
    if (arguments.first() == "hold") {
        FileStore(File(arguments[1])).withLock(arguments[2]) {
            println("held")
            Thread.sleep(600_000)
        }
        return@runBlocking
    }
    Connections.keys = File(arguments.first())
    val tests: List<Pair<String, suspend () -> Unit>> = listOf(
        "redirects" to Attacks::`a redirect is not followed`,
        "portal" to Attacks::`a page of a portal with 200 is no response, and no end of the session`,
        "endless body" to Attacks::`a body that never ends is cut off by its size`,
        "dripping body" to Attacks::`a body that drips ends at the deadline`,
        "endless headers" to Attacks::`headers that never end`,
        "framing" to Attacks::`malformed framing is no response`,
        "JSON" to Attacks::`bombs of JSON are rejected`,
        "streams" to Attacks::`a stream with a message that is too long, compressed or cut is made again`,
        "stopped stream" to Attacks::`a stream whose consumer stops is closed at once`,
        "collector" to Attacks::`what a collector throws ends the stream and is its own`,
        "cancellation" to Attacks::`cancelled at each moment of a call and of a refresh, the session stays`,
        "failing store" to Attacks::`a store that fails keeps the session, and the token that was stored`,
        "held lock" to Attacks::`a lock that is held ends a call at its deadline, and its holder may be killed`,
        "two names" to Attacks::`two stores on one folder under two names share one lock`,
        "descriptions" to Attacks::`no token is in any description or error`,
        "callbacks" to Attacks::`the callback of another sign-in or another server is refused`,
        "tomorrow" to Attacks::`values of tomorrow can be read and not sent`,
        "first use" to Attacks::`nothing is sent before the first use, and nothing is open after it`,
        "certificates" to Connections::`only a certificate of the host is accepted`,
        "stopped TLS" to Connections::`a stream over TLS is closed at once`,
        "proxy" to Connections::`requests go through the proxy`,
    ) + Sessions.tests
    var failures = 0
    for ((name, test) in tests) {
        if (arguments.size > 1 && name !in arguments) continue
        val failure = runCatching { test() }.exceptionOrNull()
        println(if (failure == null) "passed: $name" else "failed: $name")
        failure?.printStackTrace()
        if (failure != null) failures++
    }
    exitProcess(if (failures == 0) 0 else 1)
}
