import API
import IdentityDomain
import RPC
import ServiceKit

extension TokenRejection {
    /// The reason on the wire.
    var reason: String {
        switch self {
        case .malformed: "TOKEN_MALFORMED"
        case .algorithm: "TOKEN_ALGORITHM"
        case .unsigned: "TOKEN_UNSIGNED"
        case .keyUnknown: "TOKEN_KEY_UNKNOWN"
        case .signature: "TOKEN_SIGNATURE"
        case .issuer: "TOKEN_ISSUER"
        case .audience: "TOKEN_AUDIENCE"
        case .expired: "TOKEN_EXPIRED"
        case .notYetValid: "TOKEN_NOT_YET_VALID"
        case .nonceMissing: "TOKEN_NONCE_MISSING"
        case .nonceMismatch: "TOKEN_NONCE_MISMATCH"
        case .codeHash: "TOKEN_CODE_HASH"
        case .replayed: "TOKEN_REPLAYED"
        case .subject: "TOKEN_SUBJECT"
        }
    }

    /// The message for people.
    var message: String {
        switch self {
        case .malformed: "The ID token is not one that we can read."
        case .algorithm: "The ID token is signed with an algorithm that its provider does not use."
        case .unsigned: "The ID token is not signed."
        case .keyUnknown: "The ID token is signed with a key that its provider does not have."
        case .signature: "The ID token's signature does not verify."
        case .issuer: "The ID token was issued by somebody else."
        case .audience: "The ID token was issued to another app."
        case .expired: "The ID token has expired."
        case .notYetValid: "The ID token is not valid yet."
        case .nonceMissing: "A nonce is missing: in the ID token, in the request, or in both."
        case .nonceMismatch: "The ID token carries another nonce than the request."
        case .codeHash: "The authorization code does not match the ID token."
        case .replayed: "The credentials were used before. Sign in again."
        case .subject: "The ID token names no person."
        }
    }
}

extension NoticeRejection {
    /// The reason on the wire.
    var reason: String {
        switch self {
        case .malformed: "NOTICE_MALFORMED"
        case .keyUnknown: "NOTICE_KEY_UNKNOWN"
        case .signature: "NOTICE_SIGNATURE"
        case .issuer: "NOTICE_ISSUER"
        case .audience: "NOTICE_AUDIENCE"
        case .expired: "NOTICE_EXPIRED"
        case .early: "NOTICE_EARLY"
        }
    }

    /// The message for people.
    var message: String {
        switch self {
        case .malformed: "The notice does not have the provider's form."
        case .keyUnknown: "The notice is signed with a key that the provider does not have."
        case .signature: "The notice's signature does not verify."
        case .issuer: "The notice was issued by somebody else."
        case .audience: "The notice is for other apps."
        case .expired: "The notice is too old."
        case .early: "The notice was issued in the future."
        }
    }
}

extension ExchangeRefusal {
    /// The reason on the wire.
    var reason: String {
        switch self {
        case .accessTokenForeign: "ACCESS_TOKEN_FOREIGN"
        case .accessTokenInvalid: "PROVIDER_TOKEN_INVALID"
        case .tooManyRefused: "TOO_MANY_ATTEMPTS"
        }
    }

    /// The error that callers get.
    var rpcError: RPCError {
        switch self {
        case .accessTokenForeign:
            .unauthenticated(reason, "The access token was issued to another app.")
        case .accessTokenInvalid:
            .unauthenticated(reason, "The provider does not accept the access token. Sign in with the provider again.")
        case .tooManyRefused(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: reason,
                message: "The provider refused too many codes or tokens. Try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        }
    }
}
