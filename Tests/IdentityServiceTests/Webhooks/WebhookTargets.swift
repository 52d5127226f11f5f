import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import Testing

@testable import IdentityService

/// Targets of webhooks, and what they hear.
enum WebhookTargets {
    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    static func target(
        _ name: String = "crm",
        secrets: [WebhookSecret]? = nil,
        types: Set<WebhookType> = Set(WebhookType.allCases),
        mayBePrivate: Bool = false
    ) -> WebhookTarget {
        WebhookTarget(
            name: name,
            url: "https://\(name).example/hooks?token=in-the-url",
            place: "https://\(name).example:443",
            secrets: secrets ?? [WebhookSecret(secret)].compactMap(\.self),
            types: types,
            mayBePrivate: mayBePrivate
        )
    }
}

extension TestService {
    /// One more deliverer, as of a replica.
    func deliverer(_ targets: [WebhookTarget], _ http: TestHTTP, random: Double = 0.5) -> WebhookDeliverer {
        WebhookDeliverer(
            targets,
            http: http,
            store: parts.methods.store,
            clock: clock.wallClock,
            random: { random },
            logger: TestService.silentLogger
        )
    }

    /// What is still to be told or parked, in words.
    func deliveries(_ columns: String = "target || ' ' || type") async throws -> [String] {
        try await words("SELECT \(columns) FROM webhook_deliveries ORDER BY 1")
    }
}

extension OutgoingRequest {
    /// The body of a request.
    var bodyText: String {
        if case .other(_, let body?, _) = method { return String(decoding: body, as: UTF8.self) }
        return ""
    }

    /// A header's value.
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
