import HTTPJSON
import HTTPTypes
import JOSE

/// An error response of a token endpoint (RFC 6749 section 5.2): an error code, and often a description.
struct OAuthError: Error, Hashable {
    var status: HTTPResponse.Status = .badRequest
    var word: String
    var sentence: String?

    static let invalidRequest = OAuthError(word: "invalid_request")
    static let invalidClient = OAuthError(word: "invalid_client")
    static let unsupportedGrantType = OAuthError(word: "unsupported_grant_type")

    static func invalidGrant(_ sentence: String? = nil) -> OAuthError {
        OAuthError(word: "invalid_grant", sentence: sentence)
    }

    static func invalidRequest(_ sentence: String) -> OAuthError {
        OAuthError(word: "invalid_request", sentence: sentence)
    }

    var response: Response {
        var body: JSONObject = ["error": .string(word)]
        if let sentence { body["error_description"] = .string(sentence) }
        return .json(body, status: status, headers: [.cacheControl: "no-store"])
    }
}
