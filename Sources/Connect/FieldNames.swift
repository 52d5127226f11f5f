import RPC

/// Names of header fields that applications can't use.
enum FieldNames {
    /// Whether a name, in lower case, belongs to HTTP or to one of the protocols. Handlers neither receive nor send such a
    /// field.
    static func isReserved(_ name: UnsafeRawBufferPointer) -> Bool {
        switch name.count {
        case 2: name.equals("te")
        case 4: name.equals("host") || name.equals("date")
        case 5: name.equals("allow")
        case 7: name.equals("trailer") || name.equals("upgrade")
        case 10: name.equals("x-grpc-web") || name.equals("connection") || name.equals("keep-alive")
        case 11: name.equals("accept-post") || name.equals("grpc-status") || isConnects(name)
        case 12:
            name.equals("content-type") || name.equals("grpc-timeout") || name.equals("grpc-message")
                || isConnects(name)
        case 13: name.equals("grpc-encoding") || isConnects(name)
        case 14: name.equals("content-length") || isConnects(name)
        case 15: name.equals("accept-encoding") || isConnects(name)
        case 16: name.equals("content-encoding") || name.equals("proxy-connection") || isConnects(name)
        case 17: name.equals("transfer-encoding") || name.equals("grpc-message-type") || isConnects(name)
        case 20: name.equals("grpc-accept-encoding") || isConnects(name)
        case 23: name.equals("grpc-status-details-bin") || isConnects(name)
        default: isConnects(name)
        }
    }

    /// The prefix of Connect's fields.
    private static func isConnects(_ name: UnsafeRawBufferPointer) -> Bool {
        name.count >= 8 && UnsafeRawBufferPointer(rebasing: name.prefix(8)).equals("connect-")
    }

    /// Whether a handler may send a field of that name: 1*( 0-9 / a-z / "_" / "-" / "." ), and not reserved.
    static func isSendable(_ name: UnsafeRawBufferPointer) -> Bool {
        !name.isEmpty && name.allSatisfy(isNameByte) && !isReserved(name)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
            || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ".")
    }
}

extension Metadata {
    /// Without the fields that may not be sent.
    var sendable: Metadata { selecting { name, _ in FieldNames.isSendable(name) } }

    /// As fields of a response's head: Connect's unary responses have no other place for trailers.
    mutating func add(trailers: Metadata) {
        for (name, value) in trailers.sendable { add("trailer-" + name, value) }
    }
}
