import IdentityDomain
import Models
import Postgres
import ServiceModels

/// A command of `identity webhooks`, about events that were not delivered to webhook targets.
public enum WebhooksCommand: Sendable, Hashable {
    /// Shows parked or waiting events, at most so many; of one target if it is named.
    case list(areParked: Bool, target: String?, limit: Int)
    /// Shows all details of one event, by its id.
    case show(String)
    /// Retries parked events: these, or all if nil; of one target if it is named.
    case replay([String]?, target: String?)

    func run(_ store: IdentityStore, clock: WallClock) async throws -> [String] {
        switch self {
        case .list(let areParked, let target, let limit):
            let held = try await store.heldWebhooks(
                WebhookSelection(target: target),
                areParked: areParked,
                limit: limit
            )
            return held.isEmpty ? [areParked ? "nothing is parked" : "nothing waits"] : held.map(\.line)
        case .show(let id):
            let held = try await store.heldWebhooks(
                WebhookSelection(eventIDs: [try Self.eventID(id)]),
                areParked: nil,
                limit: Self.shownMax
            )
            guard !held.isEmpty else { throw WebhooksCommandError("no event \(id) is parked or waits") }
            return held.flatMap(\.lines)
        case .replay(let ids, let target):
            let eventIDs = try ids.map { ids throws(WebhooksCommandError) in try Self.eventIDs(ids) }
            let count = try await store.replayWebhooks(
                WebhookSelection(eventIDs: eventIDs, target: target),
                nowMilliseconds: clock.nowMilliseconds
            )
            guard count > 0 || ids == nil else { throw WebhooksCommandError("none of these events is parked") }
            return ["\(count) will be retried"]
        }
    }

    /// More than the targets of an event.
    private static let shownMax = 1_000

    private static func eventIDs(_ texts: [String]) throws(WebhooksCommandError) -> [PostgresUUID] {
        var ids: [PostgresUUID] = []
        for text in texts { ids.append(try eventID(text)) }
        return ids
    }

    private static func eventID(_ text: String) throws(WebhooksCommandError) -> PostgresUUID {
        try EventID(text, or: WebhooksCommandError("an event's id is a UUID, as `list` shows it")).uuid
    }
}

/// Why a webhook command failed: one line for people.
public struct WebhooksCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension HeldWebhook {
    /// Its current state.
    private var state: String { parkedAt.map { "parked \($0)" } ?? "next try \(nextAt)" }

    /// The event in one line.
    fileprivate var line: String {
        "\(eventID)  \(target)  \(type)  \(occurredAt)  \(state)  tries: \(tries)" + (failure.map { "  \($0)" } ?? "")
    }

    /// All details of the event.
    fileprivate var lines: [String] {
        [
            "event     \(eventID)", "target    \(target)", "type      \(type)", "occurred  \(occurredAt)",
            "state     \(state)", "tries     \(tries)", "failure   \(failure ?? "none")", "data      \(data)", "",
        ]
    }
}
