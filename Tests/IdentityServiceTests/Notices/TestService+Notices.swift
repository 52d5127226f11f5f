import API
import IdentityDomain
import JOSE
import ServiceKit
import Testing

@testable import IdentityService

/// A signed notice from Apple or Google.
struct TestNotice {
    var sender = NoticeSender.apple
    var type = "consent-revoked"
    var subject = "001.person"
    var identifier = "j-1"
    var reason: String?
    /// When the event happened, in Unix seconds.
    var atSeconds: Int64

    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"

    static func google(_ type: String, reason: String? = nil, id: String, at seconds: Int64) -> TestNotice {
        TestNotice(
            sender: .google,
            type: risc + type,
            subject: "77",
            identifier: id,
            reason: reason,
            atSeconds: seconds
        )
    }

    func text(_ key: SigningKey, _ changes: [String: JSONValue?] = [:]) throws -> String {
        var claims: JSONObject = ["jti": .string(identifier), "iat": .integer(atSeconds)]
        switch sender {
        case .apple:
            let event: JSONObject = [
                "type": .string(type), "sub": .string(subject), "event_time": .integer(atSeconds * 1000),
                "email": "person@privaterelay.appleid.com", "is_private_email": "true",
            ]
            claims["iss"] = "https://appleid.apple.com"
            claims["aud"] = "com.example.app"
            claims["exp"] = .integer(atSeconds + 86_400)
            claims["events"] = .string(event.text)
        case .google:
            let issuer: JSONValue = "https://accounts.google.com/"
            var event: JSONObject = ["subject": ["subject_type": "iss-sub", "iss": issuer, "sub": .string(subject)]]
            event["reason"] = reason.map { .string($0) }
            claims["iss"] = issuer
            claims["aud"] = "example.apps.googleusercontent.com"
            claims["events"] = .object([type: .object(event)])
        }
        for (name, value) in changes { claims[name] = value }
        return try key.signedToken(claims: claims, type: sender == .google ? "secevent+jwt" : nil)
    }
}

extension TestService {
    var notices: NoticeApplier { parts.methods.notices }

    /// Accepts a notice; returns whether it was a repetition.
    @discardableResult
    func accept(_ notice: TestNotice, _ changes: [String: JSONValue?] = [:], key: SigningKey? = nil) async throws
        -> Bool
    {
        var request = IdentityV1.AcceptNoticeRequest()
        request.provider = notice.sender.rawValue
        request.notice = try notice.text(key ?? provider.key, changes)
        return try await client.acceptNotice(request).knownBefore
    }

    /// Google's token for the person of ``TestNotice/google(_:reason:id:at:)``, issued now.
    func signInWithGoogle() async throws -> IdentityV1.SignInResponse {
        let claims: JSONObject = [
            "iss": "https://accounts.google.com", "aud": "example.apps.googleusercontent.com", "sub": "77",
            "iat": .integer(clock.nowSeconds), "exp": .integer(clock.nowSeconds + 3600),
            "nonce": .string(TestProvider.rawNonce), "email": "a@example.com", "email_verified": true,
        ]
        return try await signIn(token: try provider.key.signedToken(claims: claims), provider: "google")
    }

    /// The nonzero counters of notices, without their common prefix.
    var noticeCounts: Set<String> {
        var text = MetricsText()
        notices.metrics.write(to: &text)
        let lines = text.text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.hasSuffix(" 0") }
        return Set(lines.map { String($0.dropFirst("vestibule_identity_provider_".count)) })
    }
}
