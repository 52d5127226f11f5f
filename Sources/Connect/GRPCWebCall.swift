import HTTP
import RPC

/// A call of gRPC-Web (PROTOCOL-WEB): gRPC with the trailers in a last envelope, since scripts in browsers can't read trailers. The
/// text form is base64.
final class GRPCWebCall: EnvelopedCall, @unchecked Sendable {
    // Safe for the same reason as its superclass.

    private static let trailersFlag: UInt8 = 0x80
    private static let okTrailers = Array("grpc-status: 0\r\n".utf8)

    private let contentType: ContentType

    /// The forms of a response.
    enum ContentType: String {
        case proto = "application/grpc-web+proto"
        case json = "application/grpc-web+json"
        case text = "application/grpc-web-text+proto"

        /// The response is text if Accept asks for it, or if there is no Accept and the request is text.
        init(_ request: CallProtocol?, acceptsText: Bool?) {
            if request?.format == .json {
                self = .json
            } else {
                self = acceptsText ?? (request?.framing == .grpcWebText) ? .text : .proto
            }
        }

        var fields: Metadata {
            switch self {
            case .proto: Self.protoFields
            case .json: Self.jsonFields
            case .text: Self.textFields
            }
        }

        private static let protoFields = Metadata(["content-type": proto.rawValue])
        private static let jsonFields = Metadata(["content-type": json.rawValue])
        private static let textFields = Metadata(["content-type": text.rawValue])
    }

    init(_ request: borrowing Request, _ deadline: Deadline?, _ compression: Compression) {
        contentType = ContentType(request.callProtocol, acceptsText: request.fields.acceptsText)
        let isText = request.callProtocol.framing == .grpcWebText
        super.init(request, deadline, compression, isText: isText)
    }

    override func headFields(sendsGzip: Bool) -> Metadata {
        var fields = contentType.fields
        if sendsGzip { fields.add("grpc-encoding", "gzip") }
        return fields
    }

    override func lastEnvelope(_ error: RPCError?, trailers: Metadata) -> MessageBuffer {
        guard error != nil || !trailers.isEmpty else {
            return MessageBuffer(Self.okTrailers).framed(flags: Self.trailersFlag)
        }
        var text: [UInt8] = []
        for (name, value) in Self.trailers(error, trailers) { text += Array("\(name): \(value)\r\n".utf8) }
        return MessageBuffer(text).framed(flags: Self.trailersFlag)
    }

    override func failAtOnce(_ error: RPCError, fields: Metadata, trailers: Metadata) {
        Self.refuse(exchange, error, fields: fields, trailers: trailers)
    }

    /// Only trailers: without a body they are part of the head ("Trailers-only").
    static func refuse(_ exchange: HTTPExchange, _ error: RPCError, fields: Metadata, trailers: Metadata = Metadata()) {
        var fields = fields
        fields.add(contentsOf: Self.trailers(error, trailers))
        exchange.respond(status: 200, fields: fields, body: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private static func trailers(_ error: RPCError?, _ trailers: Metadata) -> Metadata {
        var all = Metadata()
        all.add("grpc-status", "\(error?.code.rawValue ?? 0)")
        if let error {
            if !error.message.isEmpty { all.add("grpc-message", PercentText.encoded(error.message)) }
            if !error.statusDetails.isEmpty { all.addBinary("grpc-status-details-bin", error.statusDetails) }
        }
        all.add(contentsOf: trailers.sendable)
        return all
    }

    override func written(_ bytes: MessageBuffer) -> MessageBuffer {
        guard contentType == .text else { return bytes }
        return MessageBuffer(bytes.withUnsafeBytes { Base64.encode($0, padded: true) })
    }
}

/// The encoding of `grpc-message` (gRPC over HTTP/2, "Responses").
enum PercentText {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// A text in printable ASCII. Leading and trailing spaces are encoded too, since HTTP removes them.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for (index, byte) in text.utf8.enumerated() {
            let isOuterSpace = byte == UInt8(ascii: " ") && (index == 0 || index == text.utf8.count - 1)
            if 0x20...0x7e ~= byte, byte != UInt8(ascii: "%"), !isOuterSpace {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
