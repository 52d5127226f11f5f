package vestibule

import java.security.MessageDigest
import java.security.SecureRandom
import java.util.Base64

/** What a provider gave the app when the user signed in there. Its description has no token. */
public class Credentials(
    /** The configured provider's name: `apple`, `google`, …. */
    public val provider: String,
    /** The provider's ID token. */
    public val idToken: String? = null,
    /** The raw nonce of the sign-in: [SignInNonce.raw], or the one of the server's challenge. */
    public val nonce: String? = null,
    /** The provider's authorization code. */
    public val authorizationCode: String? = null,
    /** The provider's access token, with [clientId]. */
    public val accessToken: String? = null,
    /** The audience of a code or an access token without an ID token. */
    public val clientId: String? = null,
    /** The redirect URI that the code was issued for, if there was one. */
    public val redirectUri: String? = null,
    /** The PKCE verifier of the code. */
    public val codeVerifier: String? = null,
    /** The user's name. Apple sends it once: the client keeps it until the server has it, for a week at most. */
    public val fullName: String? = null,
    /** The user's e-mail address, which is kept like the name. */
    public val email: String? = null,
    /** The app's name for the device, shown in the list of sessions. */
    public val deviceName: String? = null,
    /** Whether a new user gets an account. */
    public val create: Boolean = true,
) {
    override fun toString(): String = "Credentials($provider)"

    internal val json: JSONObject
        get() = present(
            "provider" to provider, "idToken" to idToken, "nonce" to nonce, "authorizationCode" to authorizationCode,
            "accessToken" to accessToken, "clientId" to clientId, "redirectUri" to redirectUri, "codeVerifier" to codeVerifier,
            "fullName" to fullName, "email" to email, "deviceName" to deviceName, "create" to false.takeIf { !create },
        )

    /** What is said once: perhaps nothing. */
    internal fun name(now: Long): PendingName {
        val credential = idToken ?: authorizationCode ?: accessToken.orEmpty()
        val subject = idToken?.let(::claims)?.text("sub")
        return PendingName(provider, subject, hexadecimal(sha256(credential.toByteArray())), fullName, email, now)
    }

    public companion object {
        /** Apple's credential. Apple gets [SignInNonce.sha256] as its nonce. */
        public fun apple(
            idToken: String, nonce: SignInNonce, authorizationCode: String? = null, fullName: String? = null, email: String? = null,
        ): Credentials = Credentials(
            "apple", idToken, nonce.raw, authorizationCode, fullName = fullName?.ifBlank { null }, email = email?.ifBlank { null })

        /** The ID token of Google's Credential Manager, whose request had [SignInNonce.raw] as its nonce. */
        public fun google(idToken: String, nonce: SignInNonce): Credentials = Credentials("google", idToken, nonce.raw)

        /** Facebook's access token, issued to the Facebook app [clientId]. */
        public fun facebook(accessToken: String, clientId: String): Credentials =
            Credentials("facebook", accessToken = accessToken, clientId = clientId)
    }
}

/** A nonce for one sign-in: it proves that the provider's token was issued for this request of this app. */
public class SignInNonce private constructor(
    /** 32 random bytes in base64url, for Google and for [Credentials]. */
    public val raw: String,
) {
    /** The SHA-256 of [raw] in lowercase hexadecimal, for Apple. */
    public val sha256: String get() = hexadecimal(sha256(raw.toByteArray()))

    override fun toString(): String = "SignInNonce"

    public companion object {
        /** Makes a nonce. */
        public fun create(): SignInNonce = SignInNonce(randomText())

        /** The nonce of the server's challenge (`auth.createChallenge`). */
        public fun of(raw: String): SignInNonce = SignInNonce(raw)
    }
}

private val random = SecureRandom()

/** 32 random bytes in base64url. */
internal fun randomText(): String = base64url(ByteArray(32).also(random::nextBytes))

internal fun base64url(bytes: ByteArray): String = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes)

internal fun sha256(bytes: ByteArray): ByteArray = MessageDigest.getInstance("SHA-256").digest(bytes)

internal fun hexadecimal(bytes: ByteArray): String = bytes.joinToString("") { (it.toInt() and 0xff or 0x100).toString(16).substring(1) }

/** The claims of a JWT, whose signature is not verified; null for any other text. */
internal fun claims(token: String): JSONObject? = try {
    token.split('.').takeIf { it.size == 3 }?.let { JSON.readObject(Base64.getUrlDecoder().decode(it[1])) }
} catch (_: IllegalArgumentException) {
    null
} catch (_: JSONException) {
    null
}
