import CRPC
import Glibc
import HTTP
import HTTPTypes
import RPC

/// What the C layer calls for requests that are no gRPC calls. All on the loop's thread.
enum ExchangeCallbacks {
    static let table = crpc_exchange_callbacks(
        on_exchange: { server, peer, exchange, head in began(server, peer, exchange, head) },
        on_exchange_body: { context, bytes, length, isLast in
            object(context)?.receive(UnsafeRawBufferPointer(start: bytes, count: length), isLast: isLast)
        },
        on_exchange_broken: { context, error in object(context)?.bodyBroke(error) },
        on_exchange_writable: { context in object(context)?.resumeWriters() },
        on_exchange_deadline: { context in object(context)?.deadlinePassed() },
        on_exchange_close: { context, _ in
            if let context { Unmanaged<NetworkExchange>.fromOpaque(context).takeRetainedValue().closed() }
        }
    )

    private static func object(_ context: UnsafeMutableRawPointer?) -> NetworkExchange? {
        context.map { Unmanaged<NetworkExchange>.fromOpaque($0).takeUnretainedValue() }
    }

    private static func began(
        _ server: UnsafeMutableRawPointer?,
        _ peer: UnsafeMutableRawPointer?,
        _ exchange: OpaquePointer?,
        _ head: UnsafePointer<crpc_exchange_head>?
    ) -> UnsafeMutableRawPointer? {
        guard let server, let peer, let exchange, let raw = head?.pointee else { return nil }
        let listener = Unmanaged<LoopListener>.fromOpaque(server).takeUnretainedValue()
        guard let handler = listener.http else { return nil }
        let exchangeObject = NetworkExchange(
            head: HTTPRequestHead(raw, methods: listener.methods, authorities: &listener.authorities),
            peer: Unmanaged<PeerInfo>.fromOpaque(peer).takeUnretainedValue(),
            loop: listener.loop,
            calls: listener.calls,
            exchange: exchange,
            handlers: raw.handlers
        )
        exchangeObject.begin(handler)
        return Unmanaged.passRetained(exchangeObject).toOpaque()
    }
}

/// The authority of the last request, so that a client that names the same one in each costs one string.
struct LastAuthority {
    private var text = ""

    mutating func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
        let isSame: Bool = text.withUTF8 { known in
            guard known.count == bytes.count else { return false }
            guard let known = known.baseAddress, let new = bytes.baseAddress else { return bytes.isEmpty }
            return memcmp(known, new, bytes.count) == 0
        }
        if !isSame { text = String(decoding: bytes, as: UTF8.self) }
        return text
    }
}

extension HTTPRequestHead {
    fileprivate init(_ raw: crpc_exchange_head, methods: [MethodHandler], authorities: inout LastAuthority) {
        let target =
            raw.method_number > 0
            ? methods[Int(raw.method_number) - 1].descriptor.path
            : String(decoding: UnsafeBufferPointer(start: raw.target, count: raw.target_length), as: UTF8.self)
        let authority = UnsafeBufferPointer(start: raw.authority, count: raw.authority_length)
        self.init(
            version: raw.version == 20 ? .http2 : raw.version == 11 ? .http11 : .http10,
            method: HTTPRequest.Method(UnsafeBufferPointer(start: raw.method, count: raw.method_length)),
            target: target,
            authority: authorities.text(authority),
            fields: Metadata(packedAt: raw.fields, count: raw.fields_length),
            contentLength: raw.content_length < 0 ? nil : Int(raw.content_length),
            hasBody: !raw.is_last,
            fault: HTTPError(raw.fault)
        )
    }
}

extension HTTPRequest.Method {
    /// The method of a request that could not be read.
    private static let unknown = HTTPRequest.Method("UNKNOWN") ?? .get

    /// The usual ones without looking at each letter again.
    fileprivate init(_ bytes: UnsafeBufferPointer<UInt8>) {
        switch (bytes.count, bytes.first) {
        case (3, UInt8(ascii: "G")) where bytes[1] == UInt8(ascii: "E") && bytes[2] == UInt8(ascii: "T"): self = .get
        case (4, UInt8(ascii: "P"))
        where bytes[1] == UInt8(ascii: "O") && bytes[2] == UInt8(ascii: "S") && bytes[3] == UInt8(ascii: "T"):
            self = .post
        default: self = HTTPRequest.Method(String(decoding: bytes, as: UTF8.self)) ?? Self.unknown
        }
    }
}

extension HTTPError {
    fileprivate init?(_ raw: crpc_fault) {
        switch raw {
        case CRPC_FAULT_NONE: return nil
        case CRPC_FAULT_HOST_COUNT: self = .hostCount
        case CRPC_FAULT_HOST_MALFORMED: self = .hostMalformed
        case CRPC_FAULT_CONTENT_LENGTH_INVALID: self = .contentLengthInvalid
        case CRPC_FAULT_TRANSFER_ENCODING_INVALID: self = .transferEncodingInvalid
        case CRPC_FAULT_TRANSFER_ENCODING_UNKNOWN: self = .transferEncodingUnknown
        case CRPC_FAULT_HEAD_TOO_LARGE: self = .headTooLarge
        case CRPC_FAULT_TARGET_TOO_LONG: self = .targetTooLong
        case CRPC_FAULT_VERSION: self = .version
        case CRPC_FAULT_HEAD_TIMEOUT: self = .headTimeout
        case CRPC_FAULT_METHOD_UNKNOWN: self = .methodUnknown
        default: self = .malformed
        }
    }
}
