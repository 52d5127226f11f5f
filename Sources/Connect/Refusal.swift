import HTTP
import RPC

/// Rejects requests that are not calls, and reports that no handler runs.
struct Refusal {
    let exchange: HTTPExchange
    let addedFields: Metadata
    let rules: CallRules

    /// With only an HTTP status, which clients of all protocols understand.
    func plain(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) {
        respond(status, Metadata(fields), .unimplemented, body: [])
        exchange.handlerEnded()
    }

    /// With the error for an unknown method, in the format of the protocol if there is one.
    func unknownMethod(_ callProtocol: CallProtocol?) {
        let error = RPCError(.unimplemented, "unknown method \(exchange.head.path.prefix(Self.toldPathLengthMax))")
        switch callProtocol?.framing {
        case .grpcWeb, .grpcWebText:
            exchange.callEnded(.unimplemented)
            var fields = GRPCWebCall.ContentType(callProtocol, acceptsText: nil).fields
            fields.add(contentsOf: addedFields)
            GRPCWebCall.refuse(exchange, error, fields: fields)
        case .connectStream:
            let last = ConnectStreamCall.lastEnvelope(error, trailers: Metadata(), rules.errors)
            let fields = ConnectStreamCall.headFields(callProtocol?.format ?? .protobuf)
            respond(200, fields, .unimplemented, body: last.withUnsafeBytes { Array($0) })
        case .connectUnary, nil:
            let fields = Metadata(["content-type": "application/json"])
            respond(404, fields, .unimplemented, body: rules.errors.error(error))
        }
        exchange.handlerEnded()
    }

    /// The maximum of a path's characters in an error.
    private static let toldPathLengthMax = 128

    private func respond(_ status: Int, _ fields: Metadata, _ code: Status.Code, body: [UInt8]) {
        exchange.callEnded(code)
        var fields = fields
        fields.add(contentsOf: addedFields)
        body.withUnsafeBytes { exchange.respond(status: status, fields: fields, body: $0) }
    }
}
