package vestibule.tests

import java.io.File
import java.net.URI
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import vestibule.Credentials
import vestibule.ErrorAction
import vestibule.ErrorCode
import vestibule.FileStore
import vestibule.GroupChangeKind
import vestibule.GroupOpenness
import vestibule.GroupRole
import vestibule.GuestOutcome
import vestibule.JSON
import vestibule.JSONObject
import vestibule.KitErrorCode
import vestibule.MemberState
import vestibule.SignInNonce
import vestibule.SessionState
import vestibule.Vestibule
import vestibule.VestibuleException
import vestibule.absorbGuest
import vestibule.account
import vestibule.auth
import vestibule.avatarUrl
import vestibule.beginSignIn
import vestibule.deleteAccount
import vestibule.removeAvatar
import vestibule.events
import vestibule.finishSignIn
import vestibule.groups
import vestibule.keptGuest
import vestibule.keys
import vestibule.linkProvider
import vestibule.setAvatar
import vestibule.signIn
import vestibule.signInAsGuest
import vestibule.text

/**
 * What an app does, from the first sign-in to the deletion, against a whole system. What a provider or a browser does is asked for by a
 * line of JSON on standard output, and answered by one on standard input.
 */
internal class Story(private val url: String, private val folder: File, private val image: File) {
    private val store = FileStore(folder)

    suspend fun tell() {
        val client = Vestibule(url, store, language = "de")
        check(client.state() == SessionState.SignedOut(null)) { "signed in before the sign-in" }
        signIn(client)
        profile(client)
        groups(client)
        refreshInTwoProcesses(client)
        avatar(client)
        sessions(client)
        signOut(client)
        endElsewhere(client)
        hosted()
        guestOfAnAccount(client)
        delete(client)
        guestWhoStays(client)
        client.close()
    }

    private suspend fun signIn(client: Vestibule) {
        val nonce = SignInNonce.create()
        val apple = ask("apple", "nonce" to nonce.sha256)
        val credentials = Credentials.apple(
            apple.text("idToken").orEmpty(), nonce, apple.text("authorizationCode"), apple.text("fullName"), apple.text("email"))
        val result = client.signIn(credentials)
        check(result.isNewUser && "display_name" in result.missingFields) { "no new user" }
        check(result.suggestedDisplayName == apple.text("fullName")) { "Apple's name was lost" }
        check(client.states.first() is SessionState.SignedIn) { "not signed in" }
        check(client.keys.getKeySet().jwksJson.contains("keys")) { "no keys" }
        // A session of another process's client is this one's.
        check(Vestibule(url, FileStore(folder)).accessToken() == client.accessToken()) { "another token" }
    }

    private suspend fun profile(client: Vestibule) {
        val phone = ask("phone").text("number").orEmpty()
        val changed = client.account.updateMe(displayName = "Maria Santos", phoneNumber = phone)
        check(changed.phoneNumber == phone && changed.missingFields.none { it == "display_name" }) { "not changed: $changed" }
        check(client.account.getMe() == changed) { "another profile" }
        check(changed.updatedAt != null && changed.revision > 0) { "no time of the change" }
        val fault = failure { client.account.updateMe(displayName = "x") }
        check(fault.code == ErrorCode.DISPLAY_NAME_INVALID && fault.action == ErrorAction.SHOW) { "$fault" }
        check("displayName" in fault.fields) { "${fault.fields}" }
        val stale = failure { client.account.updateMe(displayName = "Maria", expectedRevision = 0) }
        check(stale.code == ErrorCode.REVISION_MISMATCH && stale.metadata["revision"] == "${changed.revision}") { "$stale ${stale.metadata}" }
        check(client.account.checkUsername("maria_${System.nanoTime() % 1_000_000}").isFree) { "not free" }
    }

    private suspend fun groups(client: Vestibule): Unit = coroutineScope {
        val changes = Channel<GroupChangeKind>(Channel.UNLIMITED)
        val isOpen = CompletableDeferred<Unit>()
        val watch = launch {
            client.events().collect { event ->
                isOpen.complete(Unit)
                event.changes.forEach { changes.send(it.kind) }
            }
        }
        withTimeout(15.seconds) { isOpen.await() }
        val group = client.groups.createGroup(name = "Trip to Siargao", openness = GroupOpenness.OPEN)
        check(group.role == GroupRole.OWNER && group.openness == GroupOpenness.OPEN && group.name == "Trip to Siargao") { "$group" }
        withTimeout(15.seconds) { while (changes.receive() != GroupChangeKind.GROUP_JOINED) Unit }
        check(client.groups.listGroups().groups == listOf(group)) { "another list" }
        val added = client.groups.addMember(group.groupId, "+639171234567", "Ana Cruz")
        check(!added.existed && added.member.state == MemberState.PENDING) { "$added" }
        withTimeout(15.seconds) { while (changes.receive() != GroupChangeKind.MEMBER_CHANGED) Unit }
        watch.cancelAndJoin()
        check(client.groups.listMembers(group.groupId).members.size == 2) { "not two members" }
        val link = client.groups.createGroupLink(group.groupId, usesMax = 3)
        check(link.token.length == 43 && link.token !in link.toString() && link.link.usesMax == 3) { "$link" }
        check(client.groups.previewGroupLink(link.token).groupName == group.name) { "another group" }
        check(failure { client.groups.getGroup("00000000-0000-4000-8000-000000000000") }.code == ErrorCode.NOT_A_MEMBER) { "a member" }
        client.groups.deleteGroup(group.groupId)
    }

    /** Each process refreshes as often as it can; neither is signed out. */
    private suspend fun refreshInTwoProcesses(client: Vestibule): Unit = coroutineScope {
        val other = ProcessBuilder(
            System.getProperty("java.home") + "/bin/java", "-cp", System.getProperty("java.class.path"), "vestibule.tests.StoryKt",
            "refresh", url, folder.path,
        ).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        val tokens = List(REFRESHES) { async { client.refresh() } }.awaitAll().toSet()
        check(other.waitFor() == 0) { "the other process failed" }
        check(tokens.isNotEmpty()) { "no token" }
        client.account.getMe()
    }

    private suspend fun avatar(client: Vestibule) {
        val profile = client.setAvatar(image.readBytes())
        val picture = client.avatarUrl(checkNotNull(profile.avatarUrl) { "no picture" })
        check(URI(picture).toURL().readBytes().isNotEmpty()) { "no picture at its URL" }
        val bad = failure { client.setAvatar("no picture".toByteArray()) }
        check(bad.code == ErrorCode.AVATAR_INVALID && bad.action == ErrorAction.SHOW) { "$bad" }
        check(client.removeAvatar().avatarUrl == null) { "a picture is left" }
    }

    private suspend fun sessions(client: Vestibule) {
        val sessions = client.auth.listSessions().sessions
        val current = sessions.single { it.isCurrent }
        check(client.auth.renameSession(current.sessionId, "Blue phone").deviceName == "Blue phone") { "not renamed" }
        val nonce = SignInNonce.create()
        val google = ask("google", "nonce" to nonce.raw)
        val providers = client.linkProvider(Credentials.google(google.text("idToken").orEmpty(), nonce))
        check(providers.map { it.provider } == listOf("apple", "google")) { "$providers" }
        val other = ask("google", "nonce" to nonce.raw).text("idToken").orEmpty()
        val mismatch = failure { client.linkProvider(Credentials.google(other, SignInNonce.create())) }
        check(mismatch.code == ErrorCode.TOKEN_NONCE_MISMATCH && mismatch.status == 401) { "$mismatch" }
        check(client.state() is SessionState.SignedIn) { "a rejected token of Google ended the session" }
    }

    private suspend fun signOut(client: Vestibule) {
        val copy = File(folder.path + ".copy")
        check(folder.copyRecursively(copy)) { "no copy" }
        client.signOut()
        check(client.state() == SessionState.SignedOut(null)) { "not signed out" }
        check(failure { client.accessToken() }.code == KitErrorCode.SIGNED_OUT) { "a token" }
        // A thief's copy is worth nothing.
        val stolen = Vestibule(url, FileStore(copy))
        check(failure { stolen.refresh() }.code == ErrorCode.SESSION_REVOKED) { "the session goes on" }
        check(stolen.states.first() == SessionState.SignedOut(ErrorCode.SESSION_REVOKED)) { "no reason" }
        for (other in listOf(stolen, Vestibule(url, FileStore(copy)))) {
            check(other.states.first() == SessionState.SignedOut(null)) { "the reason twice" }
        }
    }

    /** The user signs out everywhere on another device: the stream ends with the reason, and the app gets it once. */
    private suspend fun endElsewhere(client: Vestibule): Unit = coroutineScope {
        val nonce = SignInNonce.create()
        val apple = ask("apple", "nonce" to nonce.sha256)
        check(apple.text("fullName") == null) { "Apple says the name again" }
        val user = client.signIn(Credentials.apple(apple.text("idToken").orEmpty(), nonce, apple.text("authorizationCode"))).userId
        val isOpen = CompletableDeferred<Unit>()
        val watch = async { failure { client.events().collect { isOpen.complete(Unit) } } }
        withTimeout(15.seconds) { isOpen.await() }
        ask("end", "user" to user)
        check(withTimeout(20.seconds) { watch.await() }.code == ErrorCode.SESSION_REVOKED) { "the stream ended otherwise" }
        check(client.states.first() == SessionState.SignedOut(ErrorCode.SESSION_REVOKED)) { "no reason" }
        check(client.states.first() == SessionState.SignedOut(null)) { "the reason twice" }
        check(failure { client.account.getMe() }.code == KitErrorCode.SIGNED_OUT) { "signed in" }
    }

    private suspend fun hosted() {
        val client = Vestibule(url, FileStore(File(folder.path + ".hosted")), clientId = "demo")
        val page = client.beginSignIn("http://127.0.0.1:51123/callback")
        val back = ask("browser", "url" to page).text("url").orEmpty()
        val user = client.finishSignIn(back)
        check(client.account.getMe().userId == user) { "another user" }
        val before = client.accessToken()
        check(client.refresh() != before) { "not refreshed" }
        check(client.account.getMe().userId == user) { "another user" }
        check(failure { client.finishSignIn(back) }.code == ErrorCode.WEB_STATE_INVALID) { "a code twice" }
        client.signOut()
        check(client.state() == SessionState.SignedOut(null)) { "not signed out" }
    }

    /** A guest signs in to an account that there is, which absorbs the guest. */
    private suspend fun guestOfAnAccount(client: Vestibule) {
        val guest = client.signInAsGuest("Blue phone")
        check(guest.isNewUser && (client.state() as SessionState.SignedIn).isGuest && client.account.getMe().isGuest) { "no guest" }
        check(failure { client.signInAsGuest() }.code == KitErrorCode.SIGNED_IN) { "a guest in the place of one" }
        val group = client.groups.createGroup(name = "Lunch")
        val user = client.signIn(google())
        check(!user.isNewUser && client.keptGuest() == guest.userId) { "the guest is lost" }
        client.absorbGuest(GuestOutcome.MERGE)
        check(client.keptGuest() == null) { "the guest is still kept" }
        withTimeout(15.seconds) { while (client.groups.listGroups().groups.none { it.groupId == group.groupId }) delay(50.milliseconds) }
        client.signOut()
    }

    /** A guest links a provider, and has a full account with the same id. */
    private suspend fun guestWhoStays(client: Vestibule) {
        val guest = client.signInAsGuest()
        check(client.linkProvider(google()).map { it.provider } == listOf("google")) { "not linked" }
        val state = client.state() as SessionState.SignedIn
        check(state.userId == guest.userId && !state.isGuest && !client.account.getMe().isGuest) { "no full account" }
        client.deleteAccount(google())
    }

    private fun google(): Credentials {
        val nonce = SignInNonce.create()
        return Credentials.google(ask("google", "nonce" to nonce.raw).text("idToken").orEmpty(), nonce)
    }

    private suspend fun delete(client: Vestibule) {
        client.signIn(google())
        val deletion = client.deleteAccount(google())
        check(deletion.deletesAt == null) { "only scheduled" }
        check(client.state() == SessionState.SignedOut(null)) { "not signed out" }
    }

    private fun ask(what: String, vararg members: Pair<String, String>): JSONObject {
        println(JSON.write(mapOf("need" to what) + members))
        return JSON.readObject(readln())
    }
}

/** The error that a call must fail with. */
internal suspend fun failure(call: suspend () -> Any?): VestibuleException = try {
    error("no error but ${call()}")
} catch (error: VestibuleException) {
    error
}

private const val REFRESHES = 10

internal fun main(arguments: Array<String>) = runBlocking {
    if (arguments[0] == "refresh") {
        val client = Vestibule(arguments[1], FileStore(File(arguments[2])))
        repeat(REFRESHES) { client.refresh() }
    } else {
        Story(arguments[1], File(arguments[2]), File(arguments[3])).tell()
        println(JSON.write(mapOf("done" to true)))
    }
}
