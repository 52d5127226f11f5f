import HTTP
import RPC

/// Answers requests that become no call, and says that no handler runs.
struct Refusal {
    let exchange: HTTPExchange
    let addedFields: Metadata
    let rules: CallRules

    /// With an HTTP status and nothing else: clients of all protocols know what it means to them.
    func plain(_ status: Int, _ fields: KeyValuePairs<String, String> = [:]) {
        respond(status, Metadata(fields), .unimplemented, body: [])
        exchange.handlerEnded()
    }

    /// That there is no such method, in the words of the protocol, if it has some.
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

    /// Characters of a path that an answer says again.
    private static let toldPathLengthMax = 128

    private func respond(_ status: Int, _ fields: Metadata, _ code: Status.Code, body: [UInt8]) {
        exchange.callEnded(code)
        var fields = fields
        fields.add(contentsOf: addedFields)
        body.withUnsafeBytes { exchange.respond(status: status, fields: fields, body: $0) }
    }
}
