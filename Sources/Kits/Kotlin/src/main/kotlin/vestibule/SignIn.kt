package vestibule

import java.time.Instant

/** A sign-in has succeeded. */
public class SignInResult(
    /** The user's id, a UUID. */
    public val userId: String,
    /** Whether this sign-in created the account. */
    public val isNewUser: Boolean,
    /** What to ask the user for, in this order: `display_name`, `phone_number`, `username`. */
    public val missingFields: List<String>,
    /** Whether [missingFields] couldn't be read: `account.getMe` has them later. */
    public val missingFieldsUnknown: Boolean,
    /** The name from the provider, to suggest to the user; empty if unknown. */
    public val suggestedDisplayName: String,
)

/** What became of a deletion. */
public class AccountDeletion(
    /** Providers where the user must withdraw the consent themselves: `apple`, or none. */
    public val consentsLeft: List<String>,
    /** When the account will be deleted; null if it is deleted. */
    public val deletesAt: Instant?,
)

/**
 * Signs the user in with what a provider gave the app. A session that there was is replaced, and ended at the server; a guest's is kept
 * for [absorbGuest].
 *
 * @throws VestibuleException such as `ACCOUNT_NOT_FOUND` if [Credentials.create] is false and the user is new.
 */
public suspend fun Vestibule.signIn(credentials: Credentials, options: CallOptions = CallOptions.DEFAULT): SignInResult =
    within(options) { deadline ->
        val name = keepName(credentials)
        val request = name.members + credentials.json
        val response = session.signingIn {
            // The server gives the same session for the same credentials within a minute: a lost answer is no loss.
            val (response, issued) = calls.retryingAll(deadline) {
                val requestedAt = clock.monotonicMilliseconds()
                val receivedAt = clock.wallMilliseconds()
                val response = calls.callOnce(Methods.signInWithProvider, request, null, deadline)
                response to IssuedSession(ServerSession.issued(response, receivedAt), requestedAt)
            }
            session.adopt(issued, sent = name)
            response
        }
        reading {
            SignInResult(
                response.child("tokens")?.text("userId").orEmpty(),
                response.boolean("isNewUser") ?: false,
                response.texts("missingFields"),
                response.boolean("missingFieldsUnknown") ?: false,
                response.string("suggestedDisplayName") ?: "",
            )
        }
    }

/**
 * Links another provider to the user's account, who can then sign in by it. A guest's account becomes a full one by it.
 *
 * @return the providers of the account.
 * @throws VestibuleException such as `RECENT_SIGN_IN_REQUIRED`: sign in again, then link.
 */
public suspend fun Vestibule.linkProvider(
    credentials: Credentials, options: CallOptions = CallOptions.DEFAULT,
): List<LinkedProvider> = within(options) { deadline ->
    val name = keepName(credentials)
    val request = mapOf("credentials" to name.members + credentials.json)
    val response = authorized { tokens ->
        val requestedAt = clock.monotonicMilliseconds()
        val receivedAt = clock.wallMilliseconds()
        calls.call(Methods.linkProvider, request, tokens::accessToken, deadline).also { response ->
            // The user's other account has absorbed this one.
            val issued = response.child("session")?.let { IssuedSession(ServerSession.issued(it, receivedAt), requestedAt) }
            if (issued != null) session.adopt(issued, sent = name, replaced = tokens.session) else session.forget(name)
        }
    }
    reading { response.messages("providers", LinkedProvider::fromJson) }
}

/** What a provider says once has to survive a failed sign-in: keeps it, and adds what is kept of the same person. */
private suspend fun Vestibule.keepName(credentials: Credentials): PendingName {
    val new = credentials.name(clock.wallMilliseconds())
    fun merged(kept: PendingName?) = if (kept == null || !kept.isOfSamePerson(new)) new else {
        new.copy(fullName = new.fullName ?: kept.fullName, email = new.email ?: kept.email)
    }
    if (new.isEmpty) return merged(session.record().pendingName)
    return records.locked { record -> merged(record.pendingName).also { records.write(record.copy(pendingName = it)) } }
}

/** Ends all sessions of the user, with [exceptCurrent] all but this one. */
public suspend fun Vestibule.signOutEverywhere(exceptCurrent: Boolean = false, options: CallOptions = CallOptions.DEFAULT) {
    call(Methods.signOutEverywhere, mapOf("exceptCurrent" to exceptCurrent), options)
}

/**
 * Deletes the user's account permanently, and signs out.
 *
 * @param credentials of a sign-in for this purpose. Without them the session must be from a sign-in a moment ago. Apple's authorization
 *   code among them lets the server withdraw the consent at Apple.
 * @throws VestibuleException such as `RECENT_SIGN_IN_REQUIRED`: have the user sign in at the provider, and pass the credentials.
 */
public suspend fun Vestibule.deleteAccount(
    credentials: Credentials? = null, options: CallOptions = CallOptions.DEFAULT,
): AccountDeletion {
    val request = present("credentials" to credentials?.json)
    return call(Methods.deleteMe, request, options) { AccountDeletion(it.texts("consentsLeft"), it.instant("deletesAt")) }
}
