import API
import IdentityDomain

/// The parameters of a form that a client sends itself. Those without a value count as omitted (RFC 6749 section 3.2).
struct OAuthForm: Sendable {
    /// The most parameters of a form.
    static let parametersMax = AuthorizationRequest.parametersMax

    private let values: [String: String]
    /// Whether a name that we know stands there more than once (RFC 6749 section 3.2). Of unknown ones nothing is read.
    let hasRepeated: Bool
    /// Whether there are more than ``parametersMax``. Nothing of them is read.
    let isTooLong: Bool

    init(_ parameters: [IdentityV1.OAuthParameter]) {
        var values: [String: String] = [:]
        var names: Set<String> = []
        var hasRepeated = false
        isTooLong = parameters.count > Self.parametersMax
        for parameter in parameters.prefix(isTooLong ? 0 : Self.parametersMax) where Self.known.contains(parameter.name)
        {
            if !names.insert(parameter.name).inserted { hasRepeated = true }
            if !parameter.value.isEmpty { values[parameter.name] = parameter.value }
        }
        self.values = values
        self.hasRepeated = hasRepeated
    }

    subscript(_ name: String) -> String? { values[name] }

    private static let known: Set<String> = [
        "grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope", "resource", "client_id",
        "client_secret", "client_assertion", "client_assertion_type", "token", "id_token_hint",
        "post_logout_redirect_uri", "state",
    ]
}

extension IdentityV1.OAuthFailure {
    init(_ failure: OAuthFailure) {
        self.init()
        error = failure.word.rawValue
        description_p = failure.description
        reason = failure.reason.rawValue
    }
}

extension IdentityV1.OAuthParameter {
    init(_ name: String, _ value: String) {
        self.init()
        self.name = name
        self.value = value
    }
}
