import IdentityDomain
import JOSE
import Models
import OutgoingHTTP
import ServiceKit
import ServiceStore
import Testing

@testable import IdentityService

/// Webhook targets, and their deliveries.
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
    /// Another deliverer, as of another replica.
    func deliverer(_ targets: [WebhookTarget], _ http: TestHTTP, random: Double = 0.5) -> WebhookDeliverer {
        WebhookDeliverer(
            targets,
            in: WorkTable(database) { [clock] in clock.nowMilliseconds },
            http: http,
            store: parts.methods.store,
            clock: clock.wallClock,
            random: { random },
            logger: TestService.silentLogger
        )
    }

    /// The waiting and parked deliveries, as text.
    func deliveries(_ columns: String = "target || ' ' || type") async throws -> [String] {
        try await words("SELECT \(columns) FROM \(Self.webhooks) ORDER BY 1")
    }

    /// The work for targets, as a subquery.
    static let webhooks = """
        (SELECT event_id, substr(queue, 10) AS target, data ->> 'type' AS type, user_id, data -> 'data' AS data, tries, failure,
            parked_at, created_at FROM work WHERE queue LIKE 'webhooks.%') webhooks
        """

    /// The output of `identity work`.
    func work(_ command: WorkCommand) async throws -> [String] {
        let store = parts.methods.store
        return try await WorkAdmin(
            database,
            nowMilliseconds: { [clock] in clock.nowMilliseconds },
            retried: { try await store.restartWebhookTargets(of: $0) }
        ).run(command)
    }
}

extension WebhookDeliverer {
    /// Makes all deliveries that are due for a target.
    func round(_ target: WebhookTarget) async {
        for runner in runners where runner.kind.target.name == target.name { await runner.round() }
    }

    /// Delivers until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { tasks in
            for runner in runners { tasks.addTask { try? await runner.run() } }
        }
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
