import API
import Models
import Postgres
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// Changes of phone numbers that are to be delivered to invites. A number's events stay in order.
struct PhoneEventWork: WorkKind {
    static let queue = "phone_events"

    /// One event.
    struct Item: Sendable, Hashable {
        /// The id by which the receiver applies it only once.
        let id: EventID
        /// The user whose number it is about.
        let userID: UserID
        /// The change.
        let event: PhoneEvent
        /// Whether the user's closed account is the reason.
        var isByDeletion = false
    }

    static let columns = [
        "w.event_id", "w.user_id", "w.data ->> 'kind'", "w.key",
        "COALESCE((w.data ->> 'by_deletion')::boolean, false)", "COALESCE((w.data ->> 'is_proven')::boolean, false)",
        "(w.data ->> 'taken_from')::uuid",
    ]

    let invites: InvitesServiceClient

    var queue: String { Self.queue }

    var rules: WorkRules {
        var rules = WorkRules()
        rules.isOrdered = true
        rules.together = 100
        // With the waits between them these take three hours on average, in which a receiver with a bug can be mended.
        rules.triesMax = 16
        return rules
    }

    func item(_ row: Row, from first: Int) throws -> Item? {
        guard let kind = PhoneEvent.Kind(rawValue: try row.decode(first + 2, as: String.self)),
            let phone = PhoneNumber(stored: try row.decode(first + 3, as: String.self))
        else { return nil }
        return Item(
            id: EventID(try row.decode(first, as: PostgresUUID.self)),
            userID: UserID(try row.decode(first + 1, as: PostgresUUID.self)),
            event: PhoneEvent(
                kind: kind,
                phone: phone,
                isProven: try row.decode(first + 5),
                takenFrom: try row.decode(first + 6, as: PostgresUUID?.self).map { UserID($0) }
            ),
            isByDeletion: try row.decode(first + 4)
        )
    }

    func perform(_ items: [Item], deadline: Deadline) async throws {
        var request = InvitesV1.ApplyPhoneEventsRequest()
        request.events = items.map(InvitesV1.PhoneEvent.init)
        do {
            _ = try await invites.applyPhoneEvents(request, options: CallOptions(deadline: deadline))
        } catch {
            // An account that another may be absorbing now: its event waits, and no other user's.
            if error.reason == "ACCOUNT_HELD" {
                throw WorkSetback(reason: "ACCOUNT_HELD", cause: error, isItemAtFault: false)
            }
            // Not `catch … where`: Swift 6.3.1 crashes on it where the error's type is known.
            throw error.workFailure
        }
    }
}
