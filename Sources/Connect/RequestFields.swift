import RPC

/// The parsed fields of a request's head: those of the protocols, and the rest for the application. The first value of a repeated
/// field counts. Only the application's fields are kept as text.
struct RequestFields {
    /// A coding of messages.
    enum Coding: Sendable { case identity, gzip, unknown }

    /// The value of a timeout field.
    enum Timeout: Sendable {
        case none
        case nanoseconds(UInt64)
        case malformed
    }

    /// The compression fields of one protocol.
    struct Codings: Sendable {
        var request: Coding?
        /// Whether the accepted codings include gzip; nil without a list.
        var acceptsGzip: Bool?
    }

    /// The application's fields.
    private(set) var metadata = Metadata()
    /// Nil without a content type, or for an unknown one.
    private(set) var callProtocol: CallProtocol?
    /// Whether Accept asks for gRPC-Web as text, or as binary.
    private(set) var acceptsText: Bool?
    /// Whether Connect's version is 1; nil if the request has no version.
    private(set) var isVersionKnown: Bool?
    private(set) var connectTimeout = Timeout.none
    private(set) var grpcTimeout = Timeout.none
    /// Content-Encoding and Accept-Encoding.
    private(set) var body = Codings()
    private(set) var connect = Codings()
    private(set) var grpc = Codings()

    init(_ fields: Metadata) {
        metadata = fields.selecting { name, value in !take(name, value) }
    }

    /// Whether the field belongs to the protocols and not to the application.
    private mutating func take(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool {
        // The length is compared first, since it distinguishes most names.
        switch name.count {
        case 6 where name.equals("accept"):
            if acceptsText == nil, value.contains("application/grpc-web") {
                acceptsText = value.contains("application/grpc-web-text")
            }
        case 12 where name.equals("content-type"):
            if callProtocol == nil { callProtocol = CallProtocol(contentType: value) }
        case 12 where name.equals("grpc-timeout"): Self.set(&grpcTimeout, Timeout(grpc: value))
        case 13 where name.equals("grpc-encoding"): grpc.request = grpc.request ?? Coding(value)
        case 15 where name.equals("accept-encoding"): body.acceptsGzip = body.acceptsGzip ?? Self.hasGzip(value)
        case 16 where name.equals("content-encoding"): body.request = body.request ?? Coding(value)
        case 18 where name.equals("connect-timeout-ms"): Self.set(&connectTimeout, Timeout(connect: value))
        case 20 where name.equals("grpc-accept-encoding"): grpc.acceptsGzip = grpc.acceptsGzip ?? Self.hasGzip(value)
        case 23 where name.equals("connect-accept-encoding"):
            connect.acceptsGzip = connect.acceptsGzip ?? Self.hasGzip(value)
        case 24 where name.equals("connect-protocol-version"): isVersionKnown = isVersionKnown ?? value.equals("1")
        case 24 where name.equals("connect-content-encoding"): connect.request = connect.request ?? Coding(value)
        default: return FieldNames.isReserved(name)
        }
        return true
    }

    private static func set(_ timeout: inout Timeout, _ value: Timeout) {
        if case .none = timeout { timeout = value }
    }

    /// Whether a list of codings has gzip, and not with the weight 0 (RFC 9110 section 12.5.3).
    private static func hasGzip(_ list: UnsafeRawBufferPointer) -> Bool {
        guard list.contains("gzip") else { return false }
        return String(decoding: list, as: UTF8.self).split(separator: ",").contains { entry in
            let parts = entry.split(separator: ";", maxSplits: 1).map(\.trimmed)
            guard parts.first == "gzip" else { return false }
            guard parts.count == 2, parts[1].hasPrefix("q=") else { return true }
            return parts[1].dropFirst(2).contains { $0 != "0" && $0 != "." }
        }
    }
}

extension RequestFields.Coding {
    init(_ name: UnsafeRawBufferPointer) {
        self = name.isEmpty || name.equals("identity") ? .identity : name.equals("gzip") ? .gzip : .unknown
    }
}

extension RequestFields.Timeout {
    /// A number of milliseconds of at most ten digits.
    init(connect text: UnsafeRawBufferPointer) {
        guard 1...10 ~= text.count, let number = Self.number(text[...]) else {
            self = .malformed
            return
        }
        self = .nanoseconds(number * 1_000_000)
    }

    /// A number of at most eight digits and its unit (gRPC over HTTP/2, "Timeout").
    init(grpc text: UnsafeRawBufferPointer) {
        guard 2...9 ~= text.count, let unit = Self.unitNanoseconds(text[text.count - 1]),
            let number = Self.number(text.dropLast())
        else {
            self = .malformed
            return
        }
        self = .nanoseconds(number.multipliedReportingOverflow(by: unit).overflow ? .max : number * unit)
    }

    private static func unitNanoseconds(_ unit: UInt8) -> UInt64? {
        switch unit {
        case UInt8(ascii: "n"): 1
        case UInt8(ascii: "u"): 1000
        case UInt8(ascii: "m"): 1_000_000
        case UInt8(ascii: "S"): 1_000_000_000
        case UInt8(ascii: "M"): 60_000_000_000
        case UInt8(ascii: "H"): 3_600_000_000_000
        default: nil
        }
    }

    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }

    /// The deadline; nil for none. Throws `error` if the field is malformed.
    func deadline(_ error: @autoclosure () -> RPCError) throws(RPCError) -> Deadline? {
        switch self {
        case .none: return nil
        case .nanoseconds(let nanoseconds): return Deadline.after(nanoseconds: nanoseconds)
        case .malformed: throw error()
        }
    }
}

extension Deadline {
    fileprivate static func after(nanoseconds: UInt64) -> Deadline {
        let (sum, overflow) = Deadline.now().nanoseconds.addingReportingOverflow(nanoseconds)
        return Deadline(nanoseconds: overflow ? .max : sum)
    }
}

/// The compression of the messages of a call.
struct Compression {
    /// Whether messages of the request may be gzip.
    var isGzip = false
    /// Whether messages of the response may be gzip.
    var acceptsGzip = false

    /// No compression.
    init() {}

    /// The compression by the request's fields. Throws UNIMPLEMENTED for an unknown coding of the request. A client without a
    /// list accepts the coding of its own request.
    init(_ codings: RequestFields.Codings, infersAccepted: Bool = true) throws(RPCError) {
        switch codings.request {
        case nil, .identity: isGzip = false
        case .gzip: isGzip = true
        case .unknown: throw RPCError(.unimplemented, "unknown compression; expected gzip or identity")
        }
        acceptsGzip = codings.acceptsGzip ?? (isGzip && infersAccepted)
    }
}
