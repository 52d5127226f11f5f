import IdentityDomain
import JOSE
import Models
import Postgres

/// The tables of the schema "identity". Each method is one whole operation; its time and ids are passed in.
struct IdentityStore: Sendable {
    let database: PostgresClient
    let limits: SessionLimits
}

/// A session as its tokens need it.
struct StoredSession: Sendable, Hashable {
    let facts: SessionFacts
    let nonce: [UInt8]
    /// The number of its tokens to hand out.
    let number: UInt32
    /// The name that a provider told us of the person; nil if none is known.
    var toldName: String?
    /// When it ends at the latest, in Unix seconds.
    let endsAtSeconds: Int64
    /// The account's number; nil where it was not asked for.
    var accountNumber: Int64?
    /// The e-mail that is known of the person by the session's provider; nil where it was not asked for.
    var email: EmailFacts?
    /// What the OAuth client was granted that it was opened for; nil for other apps.
    var scope: String?
    /// The API of its access tokens, if not ours (RFC 8707).
    var resource: String?
}

/// Ids and the nonce of a session to be, made before the statement that may or may not use them.
struct NewSession: Sendable, Hashable {
    let userID: UserID
    let sessionID: SessionID
    let nonce: [UInt8]
    /// The key that the session's tokens are bound to (RFC 9449); nil for bearer tokens.
    var key: JWKThumbprint?
}
