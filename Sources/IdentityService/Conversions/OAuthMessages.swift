import API
import IdentityDomain

/// The parameters of a form that a client sends itself. Those without a value count as omitted (RFC 6749 section 3.2).
struct OAuthForm: Sendable {
    private let values: [String: String]
    /// Whether a name stands there more than once.
    let hasRepeated: Bool

    init(_ parameters: [IdentityV1.OAuthParameter]) {
        var values: [String: String] = [:]
        var names: Set<String> = []
        var hasRepeated = false
        for parameter in parameters {
            if !names.insert(parameter.name).inserted { hasRepeated = true }
            if !parameter.value.isEmpty { values[parameter.name] = parameter.value }
        }
        self.values = values
        self.hasRepeated = hasRepeated
    }

    subscript(_ name: String) -> String? { values[name] }
}

extension IdentityV1.OAuthFailure {
    init(_ failure: OAuthFailure) {
        self.init()
        error = failure.word.rawValue
        description_p = failure.description
    }
}

extension IdentityV1.OAuthParameter {
    init(_ name: String, _ value: String) {
        self.init()
        self.name = name
        self.value = value
    }
}
