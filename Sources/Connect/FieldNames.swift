import RPC

/// Names of header fields that are not the application's.
enum FieldNames {
    /// Whether a name, in lower case, belongs to HTTP or to one of the protocols. Such a field is neither told to handlers nor
    /// sent for them.
    static func isReserved(_ name: UnsafeRawBufferPointer) -> Bool {
        name.starts(with: "connect-".utf8) || reserved.contains { name.equals($0) }
    }

    /// Whether a handler may send a field of that name: 1*( 0-9 / a-z / "_" / "-" / "." ), and none that is reserved.
    static func isSendable(_ name: UnsafeRawBufferPointer) -> Bool {
        !name.isEmpty && name.allSatisfy(isNameByte) && !isReserved(name)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }

    private static let reserved: [StaticString] = [
        "content-type", "content-length", "content-encoding", "accept-encoding", "accept-post", "grpc-timeout",
        "grpc-encoding", "grpc-accept-encoding", "grpc-status", "grpc-message", "grpc-status-details-bin",
        "grpc-message-type", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", "te",
        "trailer", "host", "date", "allow",
    ]
}

extension Metadata {
    /// Without what may not be sent.
    var sendable: Metadata { selecting { name, _ in FieldNames.isSendable(name) } }

    /// As fields of an answer's head: Connect's unary answers have no other place for trailers.
    mutating func add(trailers: Metadata) {
        for (name, value) in trailers.sendable { add("trailer-" + name, value) }
    }
}
