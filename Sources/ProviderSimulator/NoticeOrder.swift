import HTTPJSON
import JOSE

/// An order for a provider notification: its event and user, how the message differs from a valid one, and where it is sent.
struct NoticeOrder: Sendable {
    /// The maximum of sends of one message.
    static let timesMax: Int64 = 16
    /// The longest of the texts, in bytes.
    static let textMax = 512

    var clientID: String
    /// The user that it is about; nil for an event without a user.
    var subject: String?
    /// The provider's name of the event, such as `consent-revoked` or `sessions-revoked`.
    var type: String
    /// Google: why an account was disabled.
    var reason: String?
    /// Google: the state that a verification event repeats.
    var state: String?
    /// Apple: the relay address.
    var email: String?
    /// The message's `jti`; nil for a new one.
    var identifier: String?
    var overrides: TokenOverrides
    /// The URL to which it is sent; nil if it is only returned.
    var target: String?
    /// The number of times that it is sent.
    var times: Int64

    /// Reads a request.
    init(_ input: inout JSONInput) {
        clientID = input.string("client_id")
        type = input.string("type")
        subject = input.optionalString("sub")
        reason = input.optionalString("reason")
        state = input.optionalString("state")
        email = input.optionalString("email")
        identifier = input.optionalString("jti")
        target = input.optionalString("to")
        times = input.optionalInteger("times", in: 1...Self.timesMax) ?? 1
        var nested = input.nested("overrides")
        overrides = TokenOverrides(&nested)
        input.adopt(nested)
        let texts = [
            ("client_id", clientID), ("type", type), ("sub", subject), ("reason", reason), ("state", state),
            ("email", email), ("jti", identifier), ("to", target),
        ]
        for (name, text) in texts {
            guard let text, text.utf8.count > Self.textMax else { continue }
            input.addError(name, code: "INVALID", detail: "At most \(Self.textMax) bytes.")
        }
        if let target, !target.hasPrefix("http://"), !target.hasPrefix("https://") {
            input.addError("to", code: "INVALID", detail: "An http or https URL.")
        }
    }
}
