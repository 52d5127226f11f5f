import Models
import OutgoingHTTP
import Postgres
import ServiceModels

/// An event for a webhook target, as read from the database.
struct WebhookMessage: Sendable {
    let eventID: PostgresUUID
    let type: String
    /// When it happened, in RFC 3339 format.
    let occurredAt: String
    /// A JSON object.
    let data: String

    /// The message's id, the same at each try and for each target.
    var id: String { EventID(eventID).description }

    /// The body: the type, when it happened, and the ids.
    var body: [UInt8] {
        Array(#"{"type":"\#(type)","timestamp":"\#(occurredAt)","data":\#(data)}"#.utf8)
    }

    /// The request for one try.
    func request(to target: WebhookTarget, timeout: Duration, nowSeconds: Int64) -> OutgoingRequest {
        let (id, body) = (id, body)
        let signatures = target.secrets.map { $0.signature(id: id, timestamp: nowSeconds, body: body) }
        return OutgoingRequest(
            .other("POST", body: body),
            target.url,
            headers: [
                ("webhook-id", id), ("webhook-timestamp", "\(nowSeconds)"),
                ("webhook-signature", signatures.joined(separator: " ")),
            ],
            timeout: timeout,
            bodyBytesMax: Self.answerBytesMax,
            body: .dropped,
            reach: target.mayBePrivate ? .anywhere : .publicAddresses
        )
    }

    /// How many bytes of a response's body are read and dropped.
    private static let answerBytesMax = 16_384
}
