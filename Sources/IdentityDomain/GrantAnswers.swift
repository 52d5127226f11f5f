import JOSE

/// What a token endpoint answered to a refresh token that was only to be checked (RFC 6749 sections 5.1 and 5.2).
public enum GrantCheckAnswer: Sendable, Hashable {
    /// The provider takes it: the person's consent stands.
    case good
    /// `invalid_grant`: the provider takes it no more, and says so of this token.
    case refused
    /// It doesn't take us, or the endpoint is another one: that says nothing of anybody's token.
    case notConfigured(error: String)
    /// It can't answer now, or its answer makes no sense.
    case unavailable

    /// The longest answer, in bytes.
    public static let bytesMax = TokenEndpointAnswer.bytesMax

    /// Reads an answer. Pure.
    public init(status: Int, body: [UInt8]) {
        let object = try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: Self.bytesMax))
        switch status {
        case 200: self = object == nil ? .unavailable : .good
        case 400, 401:
            let error = ProviderErrorWord(object).text
            // Only from where RFC 6749 has it: a proxy that answers 403 or 404 knows nothing of anybody's token.
            self =
                error == "invalid_grant" ? .refused : .notConfigured(error: error.isEmpty ? "status \(status)" : error)
        case 402...407, 409...424, 426...428, 430..<500: self = .notConfigured(error: "status \(status)")
        default: self = .unavailable
        }
    }
}

/// What a revocation endpoint answered (RFC 7009 section 2.2).
public enum RevocationAnswer: Sendable, Hashable {
    /// The token is worth nothing: it was revoked now, or the provider says that it knows none such.
    case revoked
    /// The provider doesn't take us, or the endpoint is another one.
    case notConfigured(error: String)
    /// It can't answer now.
    case unavailable

    /// The longest answer, in bytes.
    public static let bytesMax = TokenEndpointAnswer.bytesMax

    /// Reads an answer. Pure.
    public init(status: Int, body: [UInt8]) {
        switch status {
        case 200..<300: self = .revoked
        case 408, 425, 429: self = .unavailable
        case 400..<500:
            let object = try? JSONObject(parsing: body, limits: JSONLimits(bytesMax: Self.bytesMax))
            let error = ProviderErrorWord(object).text
            switch error {
            // Google's words for a token that was revoked or has expired; RFC 7009 would have it answer 200.
            case "invalid_token", "invalid_grant": self = .revoked
            default: self = .notConfigured(error: error.isEmpty ? "status \(status)" : error)
            }
        default: self = .unavailable
        }
    }
}
