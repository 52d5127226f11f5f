import HTTP
import RPC

/// The fields of a request's head: what the protocols say in them, and what is left for the application.
struct RequestFields {
    /// The application's.
    var metadata = Metadata()
    /// Nil where there is no content type, or none of ours.
    var callProtocol: CallProtocol?
    var contentEncoding: String?
    var acceptEncoding: String?
    var accept: String?
    var connectVersion: String?
    var connectTimeout: String?
    var connectContentEncoding: String?
    var connectAcceptEncoding: String?
    var grpcTimeout: String?
    var grpcEncoding: String?
    var grpcAcceptEncoding: String?

    init(_ fields: Metadata) {
        var found = self
        metadata = fields.selecting { name, value in !found.take(name, value) }
        found.metadata = metadata
        self = found
    }

    /// Whether the field is the protocols' and not the application's. Of a field that comes twice the first counts.
    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        func text(_ known: String?) -> String { known ?? String(decoding: value, as: UTF8.self) }
        // By the length first: most names are told apart by it.
        switch name.count {
        case 6 where name.equals("accept"): accept = text(accept)
        case 10 where name.equals("x-grpc-web"): break
        case 12 where name.equals("content-type"):
            if callProtocol == nil { callProtocol = CallProtocol(contentType: value) }
        case 12 where name.equals("grpc-timeout"): grpcTimeout = text(grpcTimeout)
        case 13 where name.equals("grpc-encoding"): grpcEncoding = text(grpcEncoding)
        case 15 where name.equals("accept-encoding"): acceptEncoding = text(acceptEncoding)
        case 16 where name.equals("content-encoding"): contentEncoding = text(contentEncoding)
        case 18 where name.equals("connect-timeout-ms"): connectTimeout = text(connectTimeout)
        case 20 where name.equals("grpc-accept-encoding"): grpcAcceptEncoding = text(grpcAcceptEncoding)
        case 23 where name.equals("connect-accept-encoding"): connectAcceptEncoding = text(connectAcceptEncoding)
        case 24 where name.equals("connect-protocol-version"): connectVersion = text(connectVersion)
        case 24 where name.equals("connect-content-encoding"): connectContentEncoding = text(connectContentEncoding)
        default: return FieldNames.isReserved(name)
        }
        return true
    }
}

extension RequestFields {
    /// The moment that a field of Connect sets. Throws INVALID_ARGUMENT where it is no number of at most ten digits.
    func connectDeadline() throws(RPCError) -> Deadline? {
        guard let connectTimeout else { return nil }
        guard 1...10 ~= connectTimeout.utf8.count, let number = Self.number(connectTimeout.utf8) else {
            throw RPCError(.invalidArgument, "Connect-Timeout-Ms is no number of at most 10 digits")
        }
        return .after(.milliseconds(Int64(number)))
    }

    /// The moment that grpc-timeout sets (gRPC over HTTP/2, "Timeout"). Throws INTERNAL where it is none, as gRPC's own layer.
    func grpcDeadline() throws(RPCError) -> Deadline? {
        guard let grpcTimeout else { return nil }
        let text = grpcTimeout.utf8
        guard 2...9 ~= text.count, let number = Self.number(text.dropLast()), let unit = Self.units[text.last ?? 0] else {
            throw RPCError(.internalError, "grpc-timeout is malformed")
        }
        return .after(unit * Double(number))
    }

    private static let units: [UInt8: Duration] = [
        UInt8(ascii: "n"): .nanoseconds(1), UInt8(ascii: "u"): .microseconds(1), UInt8(ascii: "m"): .milliseconds(1),
        UInt8(ascii: "S"): .seconds(1), UInt8(ascii: "M"): .seconds(60), UInt8(ascii: "H"): .seconds(3600),
    ]

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

/// What is said of compressed messages.
struct Compression {
    /// Whether the request's may be.
    var isGzip = false
    /// Whether the answer's may be.
    var acceptsGzip = false

    /// No word of it.
    init() {}

    /// By the name of the request's coding, and the list of those that the client takes. Throws UNIMPLEMENTED for a coding that
    /// is neither gzip nor identity. A client without a list takes the coding of its own request.
    init(_ name: String?, accepts list: String?) throws(RPCError) {
        switch name {
        case nil, "", "identity": isGzip = false
        case "gzip": isGzip = true
        case .some(let name):
            throw RPCError(.unimplemented, "unknown compression \"\(name.prefix(32))\": gzip and identity are supported")
        }
        acceptsGzip = list.map(Self.hasGzip) ?? isGzip
    }

    /// Whether a list has gzip, and not with the weight 0 (RFC 9110 section 12.5.3).
    private static func hasGzip(_ list: String) -> Bool {
        list.split(separator: ",").contains { entry in
            let parts = entry.split(separator: ";", maxSplits: 1).map(\.trimmed)
            guard parts.first == "gzip" else { return false }
            guard parts.count == 2, parts[1].hasPrefix("q=") else { return true }
            return parts[1].dropFirst(2).contains { $0 != "0" && $0 != "." }
        }
    }
}
