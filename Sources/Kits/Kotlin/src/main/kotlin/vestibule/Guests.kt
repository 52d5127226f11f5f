package vestibule

import java.security.MessageDigest
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield

/**
 * Opens an account that no provider opens, and its only session: when that is over, the account is lost. It does the proof of work that the
 * server demands, on [Dispatchers.Default] and within the deadline. [linkProvider] makes it a full account with the same user id.
 *
 * @param deviceName the name of the device in the user's list of sessions.
 * @throws VestibuleException with [KitErrorCode.SIGNED_IN] if somebody is signed in, since a guest who is replaced is lost, with
 *   `TOO_MANY_GUESTS`, `GUESTS_NOT_ENABLED`, [KitErrorCode.TIMEOUT] and others.
 */
public suspend fun Vestibule.signInAsGuest(deviceName: String? = null, options: CallOptions = CallOptions.DEFAULT): SignInResult =
    within(options) { deadline ->
        try {
            openGuest(deviceName, deadline)
        } catch (error: VestibuleException) {
            if (error.code != ErrorCode.WORK_EXPIRED && error.code != ErrorCode.WORK_SPENT) throw error
            openGuest(deviceName, deadline)
        }
    }

private suspend fun Vestibule.openGuest(deviceName: String?, deadline: Deadline): SignInResult {
    if (session.record().session != null) throw VestibuleException.signedIn()
    val made = calls.retryingAll(deadline) { calls.callOnce(Methods.createGuestChallenge, emptyMap(), null, deadline) }
    val challenge = made.text("challenge").orEmpty()
    val bits = made.number("workBits") ?: 0
    if (challenge.isEmpty() || bits !in 0..GuestWork.BITS_MAX) throw VestibuleException.badResponse(200, "no challenge for a guest")
    // Also without work: the server gives the same session for the same proof within a minute.
    val request = present("proofOfWork" to GuestWork.proof(challenge, bits.toInt()), "deviceName" to deviceName)
    val (response, issued) = calls.retryingAll(deadline) {
        val requestedAt = clock.monotonicMilliseconds()
        val receivedAt = clock.wallMilliseconds()
        val response = calls.callOnce(Methods.signInAsGuest, request, null, deadline)
        response to IssuedSession(ServerSession.issued(response, receivedAt).copy(isGuest = true), requestedAt)
    }
    if (!session.adopt(issued)) throw VestibuleException.signedIn()
    return reading {
        SignInResult(
            issued.session.userId, isNewUser = true, response.texts("missingFields"),
            response.boolean("missingFieldsUnknown") ?: false, suggestedDisplayName = "",
        )
    }
}

/**
 * The user id of the guest who has signed in to another account since, until [absorbGuest] has decided about it; else null. A sign-out
 * signs that guest out, too.
 */
public suspend fun Vestibule.keptGuest(): String? = session.record().guest?.userId

/**
 * Merges the guest that is kept into the account that is signed in, or deletes it ([GuestOutcome.DROP]) with all it has.
 *
 * Ask the user which, and never merge unasked: somebody else may have been the guest. It needs a sign-in of the last minutes by a nonce or
 * a code. The guest stays kept until this has succeeded, or failed with `GUEST_TOKEN_INVALID`.
 *
 * @throws VestibuleException with `GUEST_TOKEN_INVALID`, also if no guest is kept, with `RECENT_SIGN_IN_REQUIRED`, `PROOF_REQUIRED`,
 *   `ACCOUNT_HELD` and others.
 */
public suspend fun Vestibule.absorbGuest(outcome: GuestOutcome, options: CallOptions = CallOptions.DEFAULT) {
    val guest = session.record().guest
        ?: throw VestibuleException(ErrorCode.GUEST_TOKEN_INVALID, "No guest is kept.", ErrorAction.SHOW)
    try {
        call(Methods.absorbGuest, mapOf("guestToken" to guest.refreshToken, "guest" to outcome.wireName), options)
    } catch (error: VestibuleException) {
        if (error.code == ErrorCode.GUEST_TOKEN_INVALID) session.forget(guest)
        throw error
    }
    session.forget(guest)
}

/** The proof of work that a new guest costs. */
internal object GuestWork {
    /** The most that is taken from a server. It would keep a phone busy for minutes. */
    const val BITS_MAX = 30L

    /** Hashes between two looks at whether the coroutine is cancelled. */
    private const val BATCH = 4096L

    /** A text that begins with a challenge and a full stop, goes on with digits, and whose SHA-256 begins with so many zero bits. */
    suspend fun proof(challenge: String, bits: Int): String = withContext(Dispatchers.Default) {
        val digest = MessageDigest.getInstance("SHA-256")
        val start = "$challenge.".toByteArray()
        var number = 0L
        while (true) {
            digest.update(start)
            if (zeroBits(digest.digest(number.toString().toByteArray())) >= bits) break
            if (++number % BATCH == 0L) yield()
        }
        "$challenge.$number"
    }

    /** How many zero bits a hash begins with. */
    private fun zeroBits(hash: ByteArray): Int {
        val first = hash.indexOfFirst { it != 0.toByte() }
        return if (first < 0) hash.size * 8 else first * 8 + Integer.numberOfLeadingZeros(hash[first].toInt() and 0xff) - 24
    }
}
