import API
import IdentityDomain
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import ServiceStore

/// A proven phone number of a user, to be delivered to profile.
struct PhoneProofEvent: Sendable, Hashable {
    /// With this id profile applies the event once.
    let eventID: EventID
    /// The user.
    var userID: UserID
    /// The number, E.164 with the leading plus.
    let phoneNumber: String
    /// How the number was proven: `provider`, `assertion` or `import`.
    let proof: String
    /// Whether the sign-in that brought it was itself proven by a nonce or a code: only such a number opens an imported account.
    let isSignInProven: Bool
    /// When it was accepted, in Unix milliseconds of identity's clock, if it is sent late: a number that the user chose since then stays.
    /// Nil while the user waits for the response, and so does nothing else before it.
    let acceptedAtMilliseconds: Int64?
}

/// Proven numbers that were not delivered to profile yet: the only rows of identity that have a number. A user's proofs stay in order.
/// None is ever parked: a number would lie here until an operator looked.
struct PhoneProofWork: WorkKind {
    static let queue = "phone_proofs"
    static let columns = [
        "w.event_id", "w.user_id", "w.data ->> 'phone'", "w.data ->> 'proof'",
        "(w.data ->> 'is_sign_in_proven')::boolean",
        "w.created_at",
    ]

    let sender: PhoneProofSender

    var queue: String { Self.queue }

    var rules: WorkRules {
        var rules = WorkRules()
        rules.isOrdered = true
        // They are delivered one after the other.
        rules.together = 20
        return rules
    }

    func item(_ row: Row, from first: Int) throws -> PhoneProofEvent? {
        PhoneProofEvent(
            eventID: EventID(try row.decode(first, as: PostgresUUID.self)),
            userID: UserID(try row.decode(first + 1, as: PostgresUUID.self)),
            phoneNumber: try row.decode(first + 2),
            proof: try row.decode(first + 3),
            isSignInProven: try row.decode(first + 4),
            acceptedAtMilliseconds: try row.decode(first + 5, as: PostgresTimestamp.self).milliseconds
        )
    }

    func perform(_ items: [PhoneProofEvent], deadline: Deadline) async throws {
        for item in items {
            do {
                try await sender.settle(item, deadline)
            } catch let error as RPCError {
                // It is unknown for now whether one other account was seen. Proofs of other users go on.
                if error.reason == "HOLDER_UNKNOWN" {
                    throw WorkSetback(reason: "HOLDER_UNKNOWN", cause: error, isItemAtFault: false)
                }
                if let setback = WorkSetback(neverParked: error) { throw setback }
                throw error
            }
        }
    }

    /// The statement that stores profile's decision has deleted the rows.
    func finish(_ items: [PhoneProofEvent], ids: [Int64], in database: PostgresClient) async throws {}
}
