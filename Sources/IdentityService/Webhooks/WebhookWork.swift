import IdentityDomain
import Models
import OutgoingHTTP
import Postgres
import RPC
import ServiceKit
import ServiceStore

/// Events that are to be delivered to a webhook target, in no order: each for three days, and then parked.
struct WebhookWork: WorkKind {
    /// How long a target may take to respond.
    static let timeout: Duration = .seconds(15)
    /// The maximum of concurrent requests from a replica to a target.
    static let atOnceMax = 8
    /// How long an event is tried.
    static let triedFor: Duration = .seconds(3 * 86_400)
    /// The bound of the first pause between two tries, which doubles, and its maximum.
    static let pauses = Backoff(first: .seconds(5), max: .seconds(6 * 3_600))
    /// What precedes a target's name in the name of its queue.
    static let queuePrefix = "webhooks."

    static let columns = ["w.event_id", "w.data ->> 'type'", "w.data ->> 'timestamp'", "(w.data -> 'data')::text"]

    let target: WebhookTarget
    let http: any OutgoingClient
    let store: IdentityStore
    let clock: WallClock

    var queue: String { Self.queue(of: target.name) }

    static func queue(of target: String) -> String { queuePrefix + target }

    /// Only while the target isn't stopped.
    var condition: String? { IdentityStore.isTold(target.name) }

    var rules: WorkRules {
        var rules = WorkRules()
        rules.atOnce = Self.atOnceMax
        rules.timeout = Self.timeout
        rules.retry = Self.pauses
        rules.triedFor = Self.triedFor
        return rules
    }

    func item(_ row: Row, from first: Int) throws -> WebhookMessage? {
        WebhookMessage(
            eventID: try row.decode(first),
            type: try row.decode(first + 1),
            occurredAt: try row.decode(first + 2),
            data: try row.decode(first + 3)
        )
    }

    func perform(_ items: [WebhookMessage], deadline: Deadline) async throws {
        for item in items {
            let request = item.request(to: target, timeout: deadline.remaining, nowSeconds: clock.nowSeconds)
            let answer: WebhookAnswer
            do throws(OutgoingHTTPError) {
                answer = WebhookAnswer(try await http.send(request))
            } catch {
                if error.cause == .cancelled { throw error }
                answer = .failed(error.description, wish: .zero)
            }
            switch answer {
            case .taken: break
            case .gone:
                try await store.stop(target, nowMilliseconds: clock.nowMilliseconds)
                throw WorkRejection(reason: "status 410")
            case .failed(let reason, let wish):
                throw WorkSetback(reason: reason, cause: WebhookFailure(reason: reason), pause: wish)
            }
        }
    }
}

/// A target's response to an event.
enum WebhookAnswer: Sendable, Hashable {
    /// It took the event.
    case taken
    /// It wants no more events.
    case gone
    /// It didn't take the event, and may ask for a pause.
    case failed(String, wish: Duration)

    init(_ response: OutgoingResponse) {
        switch response.status {
        case 200...299: self = .taken
        case 410: self = .gone
        default:
            // RFC 9110 section 10.2.3; a date in its place is ignored.
            let seconds = Int64(response.header("retry-after")).map { min(max(0, $0), 86_400) } ?? 0
            self = .failed("status \(response.status)", wish: .seconds(seconds))
        }
    }
}

/// Why a target didn't take an event, for the log.
struct WebhookFailure: Error, CustomStringConvertible {
    let reason: String

    var description: String { reason }
}
