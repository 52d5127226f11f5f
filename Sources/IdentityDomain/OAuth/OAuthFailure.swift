/// An error of the authorization, token or pushed authorization request endpoint, by the words of its specification.
public struct OAuthFailure: Error, Sendable, Hashable {
    /// The words that we use.
    public enum Word: String, Sendable, Hashable, CaseIterable {
        /// RFC 6749 sections 4.1.2.1 and 5.2.
        case invalidRequest = "invalid_request"
        /// RFC 6749 section 5.2: the client is unknown, or didn't authenticate itself.
        case invalidClient = "invalid_client"
        /// RFC 6749 section 5.2: a code or refresh token that is not valid, or another client's.
        case invalidGrant = "invalid_grant"
        /// RFC 6749 section 4.1.2.1.
        case unauthorizedClient = "unauthorized_client"
        /// RFC 6749 section 5.2.
        case unsupportedGrantType = "unsupported_grant_type"
        /// RFC 6749 section 4.1.2.1.
        case unsupportedResponseType = "unsupported_response_type"
        /// RFC 6749 sections 4.1.2.1 and 5.2.
        case invalidScope = "invalid_scope"
        /// RFC 6749 section 4.1.2.1: the user went back, or an operator keeps them out.
        case accessDenied = "access_denied"
        /// OpenID Connect Core section 3.1.2.6: `prompt=none`, and nobody is signed in.
        case loginRequired = "login_required"
        /// OpenID Connect Core section 3.1.2.6.
        case accountSelectionRequired = "account_selection_required"
        /// OpenID Connect Core section 3.1.2.6.
        case interactionRequired = "interaction_required"
        /// OpenID Connect Core section 3.1.2.6.
        case requestNotSupported = "request_not_supported"
        /// OpenID Connect Core section 3.1.2.6.
        case requestURINotSupported = "request_uri_not_supported"
        /// RFC 9126 section 2.3: a pushed request that has expired, or isn't ours.
        case invalidRequestURI = "invalid_request_uri"
        /// OpenID Connect Core section 3.1.2.6.
        case registrationNotSupported = "registration_not_supported"
        /// RFC 9449 section 5: the client has not proven possession of the key.
        case invalidDPoPProof = "invalid_dpop_proof"
        /// RFC 8707 section 2.
        case invalidTarget = "invalid_target"
        /// RFC 6749 section 4.1.2.1.
        case temporarilyUnavailable = "temporarily_unavailable"
        /// RFC 6749 section 4.1.2.1.
        case serverError = "server_error"
    }

    /// What is shown to the user where no client gets the failure: stable, and a page has a sentence for each.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// No client has this id.
        case clientUnknown = "CLIENT_UNKNOWN"
        /// The operator has switched the client off.
        case clientDisabled = "CLIENT_DISABLED"
        /// The redirect URI is none of the client's.
        case redirectInvalid = "REDIRECT_INVALID"
        /// The request has expired, or is not ours.
        case requestExpired = "REQUEST_EXPIRED"
        /// The request can't be read.
        case requestInvalid = "REQUEST_INVALID"
    }

    /// The word.
    public let word: Word
    /// For the user, where no client gets it.
    public let reason: Reason
    /// For developers: ASCII without quotes and backslashes (RFC 6749 section 5.2), and nothing that the request has.
    public let description: String

    /// A failure.
    public init(_ word: Word, _ description: String, reason: Reason = .requestInvalid) {
        self.word = word
        self.reason = reason
        self.description = description
    }
}
