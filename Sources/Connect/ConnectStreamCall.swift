import HTTP
import RPC

/// A streaming call of Connect ("Streaming RPCs"): the HTTP status is always 200, and the last envelope has the call's status.
final class ConnectStreamCall: EnvelopedCall, @unchecked Sendable {
    // Safe for the same reason as its superclass.

    private static let endFlag: UInt8 = 2
    private static let jsonType = Metadata(["content-type": "application/connect+json"])
    private static let protoType = Metadata(["content-type": "application/connect+proto"])
    private static let emptyEnd = Array("{}".utf8)

    static func headFields(_ format: MessageFormat) -> Metadata { format == .json ? jsonType : protoType }

    /// The last envelope of a stream.
    static func lastEnvelope(_ error: RPCError?, trailers: Metadata, _ errors: ErrorText) -> MessageBuffer {
        let text = error == nil && trailers.isEmpty ? emptyEnd : errors.endOfStream(error, trailers: trailers)
        return MessageBuffer(text).framed(flags: endFlag)
    }

    override func headFields(sendsGzip: Bool) -> Metadata {
        var fields = Self.headFields(format)
        if sendsGzip { fields.add("connect-content-encoding", "gzip") }
        return fields
    }

    override func lastEnvelope(_ error: RPCError?, trailers: Metadata) -> MessageBuffer {
        Self.lastEnvelope(error, trailers: trailers, rules.errors)
    }

    override func failAtOnce(_ error: RPCError, fields: Metadata, trailers: Metadata) {
        lastEnvelope(error, trailers: trailers).withUnsafeBytes {
            exchange.respond(status: 200, fields: fields, body: $0)
        }
    }
}
