import API
import HTTPJSON
import HTTPTypes
import RPC

/// An answer of identity that is used once more because identity doesn't respond (``SessionAnswers/answerInOutage(to:nowSeconds:)``).
struct OutageAnswer: Sendable {
    /// How long identity may take to respond while there is such an answer.
    static let checkLimit: Duration = .seconds(1)
    /// The metadata key of an RPC's response that was allowed by such an answer; the value is ``seconds``.
    static let metadataKey = "vestibule-outage-grace"

    let response: IdentityV1.CheckSessionResponse
    /// The time since it was last known which sessions had ended.
    let age: Duration

    /// Whether an error says that identity didn't respond, rather than that it refused.
    static func isDue(after error: RPCError) -> Bool { error.code == .unavailable || error.code == .deadlineExceeded }

    /// The age in whole seconds, rounded up.
    var seconds: String { "\(age.components.seconds + (age.components.attoseconds > 0 ? 1 : 0))" }
}

extension HTTPField.Name {
    /// The header of a response that was allowed by such an answer; the value is `OutageAnswer.seconds`. Forced because the literal is a token
    /// of RFC 9110 section 5.6.2.
    static let outageGrace = HTTPField.Name("Vestibule-Outage-Grace")!
}
