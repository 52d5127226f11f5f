import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension IdentityError: DomainError {
    /// The error that callers get for a domain error: the one place that spells the reasons on the wire.
    public var rpcError: RPCError {
        switch self {
        case .token(let rejection):
            .domain(.unauthenticated, reason: rejection.reason, message: rejection.message)
        case .tokenAudience(let named):
            .domain(
                .unauthenticated,
                reason: TokenRejection.audience.reason,
                message: "\(TokenRejection.audience.message) Its audience is \(named)."
            )
        case .providerUnknown:
            // The provider is part of a route's path, so an unknown one is an unknown path, not an invalid field.
            .domain(.notFound, reason: "PROVIDER_UNKNOWN", message: "No provider of this name is configured.")
        case .providerUnavailable:
            .domain(
                .unavailable,
                reason: "PROVIDER_UNAVAILABLE",
                message: "The provider cannot be reached now. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .refreshTokenInvalid:
            .unauthenticated("REFRESH_TOKEN_INVALID", "The refresh token is not valid.")
        case .refreshTokenReused:
            .unauthenticated(
                "REFRESH_TOKEN_REUSED",
                "The refresh token was used before. The session has been ended."
            )
        case .accessTokenInvalid:
            .unauthenticated("ACCESS_TOKEN_INVALID", "The access token is not valid.")
        case .accessTokenExpired:
            .unauthenticated("ACCESS_TOKEN_EXPIRED", "The access token has expired.")
        case .sessionInvalid:
            .unauthenticated("SESSION_INVALID", "The session does not exist.")
        case .sessionExpired:
            .unauthenticated("SESSION_EXPIRED", "The session has expired. Sign in again.")
        case .sessionRevoked:
            .unauthenticated("SESSION_REVOKED", "The session has been ended. Sign in again.")
        case .sessionUnproven:
            .unauthenticated("SESSION_UNPROVEN", "The session is without proof and is not good here. Sign in again.")
        case .sessionNotFound:
            .domain(.notFound, reason: "SESSION_NOT_FOUND", message: "There is no such session.")
        case .deviceNameInvalid(let fault):
            .domain(
                .invalidArgument,
                reason: "DEVICE_NAME_INVALID",
                message: "The device name \(fault.words)",
                field: "device_name"
            )
        case .signIn(let refusal):
            refusal.rpcError
        case .exchange(let refusal):
            refusal.rpcError
        case .tokenMissing:
            .domain(
                .invalidArgument,
                reason: SignInRefusal.credentialsMissing.reason,
                message: "An access token or a refresh token is needed."
            )
        case .scopeUnknown:
            .domain(
                .invalidArgument,
                reason: "SCOPE_UNKNOWN",
                message: "There is no such scope.",
                field: "scope"
            )
        case .metadataInvalid:
            .domain(
                .invalidArgument,
                reason: "METADATA_INVALID",
                message: "The metadata must be a JSON object that is not nested deeply.",
                field: "changes_json"
            )
        case .metadataTooLarge:
            .domain(
                .invalidArgument,
                reason: "METADATA_TOO_LARGE",
                message: "An account's metadata has 16 KiB of JSON at most, a guest's 2 KiB.",
                field: "changes_json"
            )
        case .keyNotProven:
            .unauthenticated(
                "DPOP_PROOF_REQUIRED",
                "The request needs a proof of possession (DPoP) by the key that the session or the app is bound to."
            )
        case .metadataContended:
            .domain(
                .aborted,
                reason: "METADATA_CONTENDED",
                message: "Too many others change the metadata at the same time. Try again in a moment.",
                retryAfter: .seconds(1)
            )
        case .userIDInvalid:
            .domain(
                .invalidArgument,
                reason: "USER_ID_INVALID",
                message: "The user id must be a UUID.",
                field: "user_id"
            )
        case .signInInsufficient(let lack, let maxAgeSeconds):
            lack.rpcError(maxAgeSeconds: maxAgeSeconds)
        case .proofRequired:
            .domain(.permissionDenied, reason: "PROOF_REQUIRED", message: SignInLack.unproven.message)
        case .credentialsForeign:
            .domain(
                .permissionDenied,
                reason: "CREDENTIALS_FOREIGN",
                message: "These credentials are not of an identity of this account."
            )
        case .providerLinkedTooRecently(let waitSeconds):
            LinkRefusal.linkedTooRecently(waitSeconds: waitSeconds)
        case .web(let fault):
            fault.rpcError
        case .notice(let rejection):
            .domain(.invalidArgument, reason: rejection.reason, message: rejection.message)
        case .link(let refusal):
            refusal.rpcError
        case .accountNotFound:
            .domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is no such account.")
        case .operation(let refusal):
            refusal.rpcError
        case .phoneAssertion(let rejection):
            rejection.rpcError
        case .phoneProof(let refusal):
            refusal.rpcError
        case .event(let refusal):
            refusal.rpcError
        case .guest(let refusal):
            refusal.rpcError
        case .recovery(let refusal):
            refusal.rpcError
        case .passkey(let refusal):
            refusal.rpcError
        case .tooManyAddresses(let retryAfterMilliseconds):
            .domain(
                .resourceExhausted,
                reason: "RATE_LIMITED",
                message: "Too many e-mail addresses were tried. Please try again later.",
                retryAfter: .milliseconds(retryAfterMilliseconds)
            )
        }
    }
}

extension WebSignInError {
    fileprivate var rpcError: RPCError {
        switch self {
        case .stateInvalid:
            .unauthenticated("WEB_STATE_INVALID", "This browser did not begin this sign-in, or it was too long ago.")
        case .challengeInvalid:
            .domain(
                .invalidArgument,
                reason: "CODE_CHALLENGE_INVALID",
                message: "The code challenge must be a SHA-256 hash in base64url.",
                field: "code_challenge"
            )
        case .notConfigured:
            .domain(
                .failedPrecondition,
                reason: "WEB_SIGN_IN_NOT_CONFIGURED",
                message: "This provider has no page for sign-ins in a browser."
            )
        case .tooManyTickets:
            .domain(
                .resourceExhausted,
                reason: "WEB_TICKETS_TOO_MANY",
                message: "Too many sign-ins are under way. Please try again in a moment.",
                retryAfter: .seconds(60)
            )
        }
    }
}

extension SignInRefusal {
    var reason: String {
        switch self {
        case .credentialsMissing: "CREDENTIALS_MISSING"
        case .clientUnknown: "CLIENT_UNKNOWN"
        case .codeRequired: "CODE_REQUIRED"
        case .codeSpent: "CODE_SPENT"
        case .codeForeign: "CODE_FOREIGN"
        case .nonceRequired: "NONCE_REQUIRED"
        case .nonceUnknown: "NONCE_UNKNOWN"
        case .nonceExpired: "NONCE_EXPIRED"
        case .exchangeNotConfigured: "EXCHANGE_NOT_CONFIGURED"
        case .tokenStale: "TOKEN_STALE"
        case .subjectDiffers: "TOKEN_SUBJECT"
        case .ticketInvalid: "TICKET_INVALID"
        case .proofRequired: "PROOF_REQUIRED"
        case .accountExists: "ACCOUNT_EXISTS"
        case .providerAccountDisabled: "PROVIDER_ACCOUNT_DISABLED"
        case .accountBlocked: "ACCOUNT_BLOCKED"
        case .emailInvalid: "EMAIL_INVALID"
        case .emailTaken: "EMAIL_TAKEN"
        }
    }

    fileprivate var rpcError: RPCError {
        switch self {
        case .credentialsMissing:
            .domain(
                .invalidArgument,
                reason: reason,
                message: "An ID token, an authorization code or an access token of the provider is needed."
            )
        case .clientUnknown:
            .domain(
                .invalidArgument,
                reason: reason,
                message: "A code or an access token alone needs a client_id that is configured for this provider.",
                field: "client_id"
            )
        case .codeRequired:
            .unauthenticated(reason, "The authorization code must come with the ID token.")
        case .codeSpent:
            .unauthenticated(reason, "The authorization code was used before. Sign in with the provider again.")
        case .codeForeign:
            .unauthenticated(reason, "The authorization code was issued for somebody else or another app.")
        case .nonceRequired:
            .unauthenticated(reason, "This app signs in with an ID token that carries a nonce of the server.")
        case .nonceUnknown:
            .unauthenticated(reason, "The nonce is none that the server made for this app. Ask for one.")
        case .nonceExpired:
            .unauthenticated(reason, "The nonce is too old. Ask for another one and sign in with the provider again.")
        case .exchangeNotConfigured:
            .domain(
                .failedPrecondition,
                reason: reason,
                message: "What the provider asks of this client to answer is not configured.",
                field: "client_id"
            )
        case .tokenStale:
            .unauthenticated(reason, "The ID token is too old. Sign in with the provider again.")
        case .subjectDiffers:
            .unauthenticated(reason, "The provider names another person than the app does.")
        case .ticketInvalid:
            .unauthenticated(reason, "The ticket is not valid. Sign in with the provider again.")
        case .proofRequired:
            .unauthenticated(reason, "A proof of the provider is needed, such as its ID token.")
        case .accountExists:
            .domain(.alreadyExists, reason: reason, message: "This person is registered already.")
        case .providerAccountDisabled:
            .unauthenticated(reason, "The provider has disabled the account. Sign in in another way.")
        case .accountBlocked:
            .domain(.permissionDenied, reason: reason, message: "The account is blocked.")
        case .emailInvalid:
            .domain(
                .invalidArgument,
                reason: reason,
                message: "The address to reserve is no e-mail address.",
                field: "email_reservation"
            )
        case .emailTaken:
            .domain(
                .alreadyExists,
                reason: reason,
                message: "Another account has this e-mail address."
            )
        }
    }
}

extension RPCError {
    /// The error of credentials that were refused.
    static func unauthenticated(_ reason: String, _ message: String) -> RPCError {
        .domain(.unauthenticated, reason: reason, message: message)
    }
}
