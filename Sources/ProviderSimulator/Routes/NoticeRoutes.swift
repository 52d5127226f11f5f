import HTTPJSON
import HTTPTypes
import JOSE
import OutgoingHTTP

/// `POST /control/apple/notify` and `POST /control/google/risc`: the provider's notifications to a backend about its users.
enum NoticeRoutes {
    /// How long one request may take.
    static let timeout: Duration = .seconds(10)
    /// The longest response that is read, in bytes.
    static let answerBytesMax = 64 * 1024

    /// - Parameter http: the client that sends messages; nil if they are only returned.
    static func all(_ store: SimulatorStore, _ http: (any OutgoingClient)?) -> [Route] {
        [
            Route(.post, "/control/apple/notify") { request, context in
                let order = try order(try await context.json(request))
                let notice = try await store.appleNotice(order)
                let body: JSONObject = ["payload": .string(notice.token)]
                return try await answer(notice, order, http, body: body.serialized(), type: "application/json")
            },
            Route(.post, "/control/google/risc") { request, context in
                let order = try order(try await context.json(request))
                let notice = try await store.googleNotice(order)
                let body = Array(notice.token.utf8)
                return try await answer(notice, order, http, body: body, type: "application/secevent+jwt")
            },
        ]
    }

    private static func order(_ input: JSONInput) throws(Problem) -> NoticeOrder {
        var input = input
        let order = NoticeOrder(&input)
        try input.finish()
        return order
    }

    /// Sends the message as often as ordered. Returns it with the statuses of the responses.
    private static func answer(
        _ notice: MadeNotice,
        _ order: NoticeOrder,
        _ http: (any OutgoingClient)?,
        body: [UInt8],
        type: String
    ) async throws -> Response {
        var statuses: [JSONValue] = []
        if let target = order.target {
            guard let http else {
                throw Problem(.badRequest, code: "CANNOT_SEND", detail: "This simulator can't send messages.")
            }
            let request = OutgoingRequest(
                .other("POST", body: body, mediaType: type),
                target,
                timeout: timeout,
                bodyBytesMax: answerBytesMax
            )
            for _ in 0..<order.times {
                do throws(OutgoingHTTPError) {
                    statuses.append(.integer(Int64(try await http.send(request).status)))
                } catch {
                    throw Problem(.badGateway, code: "NOT_SENT", detail: "That URL does not respond.", cause: error)
                }
            }
        }
        return .json([
            "notice": .string(notice.token), "jti": .string(notice.identifier), "statuses": .array(statuses),
        ])
    }
}
