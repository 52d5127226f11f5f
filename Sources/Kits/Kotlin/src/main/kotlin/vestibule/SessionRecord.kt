package vestibule

import kotlin.math.abs

/** A record in the store is damaged. */
internal class UnreadableRecordException(message: String) : Exception(message)

/** A record in the store is of a later version of the kit, which has to stay as it is. */
internal class LaterRecordException : Exception()

/** What a client keeps: one value, written as a whole. The kits of all languages have the same. */
internal data class SessionRecord(
    /** Grows by one with each write. */
    val generation: Long = 0,
    val session: StoredSession? = null,
    /** The code for which a session has ended, until the app was notified. */
    val endedCode: String? = null,
    /** Sessions that the server must still end. */
    val signOuts: List<PendingSignOut> = emptyList(),
    val guest: KeptGuest? = null,
    val pendingName: PendingName? = null,
    /** Sign-ins by the page that have begun, the latest last. */
    val hosted: List<HostedSignIn> = emptyList(),
    /** Members that a later version has added. */
    val others: JSONObject = emptyMap(),
) {
    override fun toString(): String = "SessionRecord($generation)"

    /** The record with a session to be ended in the place of the present one. */
    fun withoutSession(): SessionRecord = copy(session = null).ending(session?.signOut)

    /** The record with nobody in it: the user has left, and nobody comes back for the guest that is kept. */
    fun withoutUser(): SessionRecord = withoutSession().copy(endedCode = null).withoutGuest()

    /** The record with the guest that is kept to be ended. */
    fun withoutGuest(): SessionRecord = copy(guest = null).ending(guest?.let { PendingSignOut(it.refreshToken, null) })

    /** The record without the session of a guest, who is kept: only by the token can the account of the next session absorb it. */
    fun keepingGuest(guest: StoredSession): SessionRecord = copy(session = null, guest = KeptGuest(guest.refreshToken, guest.userId))

    /** The record with a session that the server must end. */
    fun ending(signOut: PendingSignOut?): SessionRecord =
        copy(signOuts = (signOuts + listOfNotNull(signOut)).distinct().takeLast(SIGN_OUTS_MAX))

    /** The record with a sign-in by the page that begins. */
    fun beginning(signIn: HostedSignIn): SessionRecord = copy(hosted = (hosted + signIn).takeLast(HOSTED_MAX))

    /** The record without what was kept too long. */
    fun kept(now: Long): SessionRecord =
        copy(pendingName = pendingName?.takeIf { it.isKept(now) }, hosted = hosted.filter { it.isKept(now) })

    /** Whether nothing was kept too long. */
    fun isKept(now: Long): Boolean = pendingName?.isKept(now) != false && hosted.all { it.isKept(now) }

    fun write(): String = JSON.write(
        others + linkedMapOf(
            "version" to VERSION,
            "generation" to generation,
            "session" to session?.json,
            "ended" to endedCode?.let { mapOf("code" to it) },
            "signOuts" to signOuts.map { it.json },
            "pendingName" to pendingName?.json,
            "hosted" to hosted.map { it.json },
        ) + present("guest" to guest?.json),
    )

    companion object {
        private const val VERSION = 1
        private const val SIGN_OUTS_MAX = 8
        private const val HOSTED_MAX = 4
        private val MEMBERS = setOf("version", "generation", "session", "ended", "signOuts", "guest", "pendingName", "hosted")

        @Throws(UnreadableRecordException::class, LaterRecordException::class)
        fun read(text: String): SessionRecord {
            val json = try {
                JSON.readObject(text)
            } catch (error: JSONException) {
                throw UnreadableRecordException(error.message.orEmpty())
            }
            val version = json.number("version") ?: throw UnreadableRecordException("no version")
            if (version > VERSION) throw LaterRecordException()
            if (version != VERSION.toLong()) throw UnreadableRecordException("of another version")
            return SessionRecord(
                json.number("generation") ?: throw UnreadableRecordException("no generation"),
                json.child("session")?.let(StoredSession::read),
                json.child("ended")?.text("code"),
                json.children("signOuts").mapNotNull(PendingSignOut::read),
                json.child("guest")?.let(KeptGuest::read),
                json.child("pendingName")?.let(PendingName::read),
                json.children("hosted").mapNotNull(HostedSignIn::read),
                json - MEMBERS,
            )
        }
    }
}

/** Whether something from the time [since] was kept for less than [length]. A clock that was set by more counts as too long. */
internal fun isWithin(length: Long, since: Long, now: Long): Boolean = abs(now - since) < length

/** A session and its tokens. */
internal data class StoredSession(
    val accessToken: String,
    val refreshToken: String,
    val idToken: String?,
    val userId: String,
    val sessionId: String,
    /** The OpenID client that it was opened for; null for a session of the app's own. */
    val clientId: String?,
    /** Of the access token. */
    val lifetimeSeconds: Long,
    /** What the user's clock showed when the tokens were requested. */
    val receivedAt: Long,
    /** Whether it is a guest's, whose account no provider opens: with its tokens the account is lost. */
    val isGuest: Boolean = false,
    /** Members that a later version has added. */
    val others: JSONObject = emptyMap(),
) {
    override fun toString(): String = "StoredSession($sessionId)"

    /** Whether both are tokens of one session. */
    fun isOf(other: StoredSession): Boolean = sessionId.isNotEmpty() && sessionId == other.sessionId

    val signOut: PendingSignOut get() = PendingSignOut(refreshToken, clientId)

    val json: JSONObject
        get() = others + present(
            "accessToken" to accessToken, "refreshToken" to refreshToken, "idToken" to idToken, "userId" to userId,
            "sessionId" to sessionId, "clientId" to clientId, "lifetimeSeconds" to lifetimeSeconds, "receivedAt" to receivedAt,
            "isGuest" to true.takeIf { isGuest },
        )

    companion object {
        private val MEMBERS = setOf(
            "accessToken", "refreshToken", "idToken", "userId", "sessionId", "clientId", "lifetimeSeconds", "receivedAt", "isGuest")

        @Throws(UnreadableRecordException::class)
        fun read(json: JSONObject): StoredSession {
            fun required(name: String) = json.text(name) ?: throw UnreadableRecordException("no $name")
            return StoredSession(
                required("accessToken"), required("refreshToken"), json.text("idToken"), required("userId"),
                required("sessionId"), json.text("clientId"), json.number("lifetimeSeconds") ?: 0, json.number("receivedAt") ?: 0,
                json["isGuest"] == true, json - MEMBERS,
            )
        }
    }
}

/** A guest who has signed in to an account, until the app has decided what becomes of the guest's. */
internal data class KeptGuest(val refreshToken: String, val userId: String) {
    override fun toString(): String = "KeptGuest($userId)"

    val json: JSONObject get() = present("refreshToken" to refreshToken, "userId" to userId)

    companion object {
        fun read(json: JSONObject): KeptGuest? {
            return KeptGuest(json.text("refreshToken") ?: return null, json.text("userId") ?: return null)
        }
    }
}

/** A session that has ended here, and perhaps not yet at the server. */
internal data class PendingSignOut(val refreshToken: String, val clientId: String?) {
    override fun toString(): String = "PendingSignOut"

    val json: JSONObject get() = present("refreshToken" to refreshToken, "clientId" to clientId)

    companion object {
        fun read(json: JSONObject): PendingSignOut? = json.text("refreshToken")?.let { PendingSignOut(it, json.text("clientId")) }
    }
}

/** What a provider says about a user once, kept until the server has it, for a week at most. */
internal data class PendingName(
    val provider: String,
    /** The provider's id of the user, if the credentials said it. */
    val subject: String?,
    /** The SHA-256 of the credential, by which the user of one without a subject is known. */
    val credential: String,
    val fullName: String?,
    val email: String?,
    /** What the user's clock showed. */
    val keptAt: Long,
) {
    override fun toString(): String = "PendingName($provider)"

    /** Whether both are surely about the same person. */
    fun isOfSamePerson(other: PendingName): Boolean =
        provider == other.provider && subject == other.subject && (subject != null || credential == other.credential)

    fun isKept(now: Long): Boolean = isWithin(KEPT_MILLISECONDS_MAX, keptAt, now)

    val isEmpty: Boolean get() = fullName == null && email == null

    /** As members of a request. */
    val members: JSONObject get() = present("fullName" to fullName, "email" to email)

    val json: JSONObject
        get() = present(
            "provider" to provider, "subject" to subject, "credential" to credential, "fullName" to fullName, "email" to email,
            "keptAt" to keptAt,
        )

    companion object {
        private const val KEPT_MILLISECONDS_MAX = 7 * 86_400_000L

        fun read(json: JSONObject): PendingName? = json.text("provider")?.let {
            PendingName(
                it, json.text("subject"), json.text("credential").orEmpty(), json.text("fullName"), json.text("email"),
                json.number("keptAt") ?: 0,
            )
        }
    }
}

/** An object of the members that are not null. */
internal fun present(vararg members: Pair<String, Any?>): JSONObject = members.filter { it.second != null }.toMap(LinkedHashMap())
