import JOSE

/// A signed message of a provider.
struct MadeNotice: Sendable {
    /// The compact JWS.
    let token: String
    /// Its `jti`.
    let identifier: String
}

extension SimulatorStore {
    /// Apple's `exp` of a notification, in seconds after its `iat`.
    private static let appleNoticeSeconds: Int64 = 86_400

    /// An Apple server notification: the event is a text that itself contains JSON.
    func appleNotice(_ order: NoticeOrder) throws -> MadeNotice {
        let (identifier, issuedAt) = begin(order)
        var event: JSONObject = ["type": .string(order.type)]
        event["sub"] = order.subject.map { .string($0) }
        event["event_time"] = .integer(issuedAt * 1000)
        if let email = order.email {
            event["email"] = .string(email)
            event["is_private_email"] = "true"
        }
        let expiresIn = order.overrides.expiresInSeconds ?? Self.appleNoticeSeconds
        let claims: JSONObject = [
            "iss": .string(Provider.apple.issuer), "aud": .string(order.clientID), "iat": .integer(issuedAt),
            "exp": .integer(issuedAt + expiresIn), "jti": .string(identifier), "events": .string(event.text),
        ]
        return MadeNotice(token: try sign(claims, order.overrides, .apple, type: nil), identifier: identifier)
    }

    /// A Google security event token (RFC 8417): without `exp`, and with a slash at the end of the issuer.
    func googleNotice(_ order: NoticeOrder) throws -> MadeNotice {
        let (identifier, issuedAt) = begin(order)
        let issuer = Provider.google.issuer + "/"
        var event = JSONObject()
        if let subject = order.subject {
            event["subject"] = ["subject_type": "iss-sub", "iss": .string(issuer), "sub": .string(subject)]
        }
        event["reason"] = order.reason.map { .string($0) }
        event["state"] = order.state.map { .string($0) }
        var claims: JSONObject = [
            "iss": .string(issuer), "aud": .string(order.clientID), "iat": .integer(issuedAt),
            "jti": .string(identifier), "events": .object([Self.googleEvent(order.type): .object(event)]),
        ]
        if let expiresIn = order.overrides.expiresInSeconds { claims["exp"] = .integer(issuedAt + expiresIn) }
        let token = try sign(claims, order.overrides, .google, type: "secevent+jwt")
        return MadeNotice(token: token, identifier: identifier)
    }

    private func begin(_ order: NoticeOrder) -> (identifier: String, issuedAt: Int64) {
        (
            order.identifier ?? Hex.encode(environment.randomBytes(16)),
            environment.nowSeconds() + order.overrides.issuedInSeconds
        )
    }

    /// The event's URI; a type that is a URI already is kept.
    private static func googleEvent(_ type: String) -> String {
        if type.contains(":") { return type }
        let isOfOAuth = type == "tokens-revoked" || type == "token-revoked"
        return "https://schemas.openid.net/secevent/\(isOfOAuth ? "oauth" : "risc")/event-type/\(type)"
    }
}
