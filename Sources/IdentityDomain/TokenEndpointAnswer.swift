import JOSE

/// What a provider's token endpoint answered (RFC 6749 sections 5.1 and 5.2, OpenID Connect Core section 3.1.3.3).
public enum TokenEndpointAnswer: Sendable, Hashable {
    /// The code was exchanged for these tokens.
    case exchanged(ExchangedTokens)
    /// The provider doesn't take the code: it was used, is too old, was never issued, or was issued to another client, redirect
    /// URI or verifier.
    case refused(error: String)
    /// The provider doesn't take us: our credentials, or the endpoint, are not what it expects. Nobody's code is spent by that.
    case notConfigured(error: String)
    /// The provider can't answer now.
    case unavailable
    /// The answer makes no sense. The code may be spent.
    case unreadable

    /// The longest answer, in bytes.
    public static let bytesMax = 64 * 1024

    /// Reads an answer. Pure.
    public init(status: Int, body: [UInt8]) {
        let object = try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: Self.bytesMax))
        switch status {
        case 200:
            if let token = object?["id_token"]?.string, !token.isEmpty {
                let tokens = ExchangedTokens(idToken: token, refreshToken: object?["refresh_token"]?.string)
                self = .exchanged(tokens)
            } else {
                self = .unreadable
            }
        case 408, 425, 429, 500...599:
            self = .unavailable
        case 400..<500:
            let error = ProviderErrorWord(object).text
            switch error {
            // Google says redirect_uri_mismatch; a code of Apple's that is no code at all is an invalid_request.
            case "invalid_grant", "invalid_request", "redirect_uri_mismatch": self = .refused(error: error)
            default: self = .notConfigured(error: error.isEmpty ? "status \(status)" : error)
            }
        default:
            self = .unreadable
        }
    }
}
