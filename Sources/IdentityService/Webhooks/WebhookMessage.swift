import Models
import OutgoingHTTP
import Postgres
import ServiceModels

/// An event that a target is to be told, as a row of the database has it.
struct WebhookMessage: Sendable {
    let eventID: PostgresUUID
    let target: String
    let type: String
    /// When it happened, as RFC 3339 writes it.
    let occurredAt: String
    /// A JSON object.
    let data: String
    /// How often it was tried, this time included.
    let tries: Int32
    /// Since when it is tried.
    let triedFrom: PostgresTimestamp

    /// The message's id, the same at each try and for each target.
    var id: String { EventID(eventID).description }

    /// The body: the type, when it happened, and the ids.
    var body: [UInt8] {
        Array(#"{"type":"\#(type)","timestamp":"\#(occurredAt)","data":\#(data)}"#.utf8)
    }

    /// The request of a try.
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

    /// How much of an answer's body is read, and dropped.
    private static let answerBytesMax = 16_384
}
