extension JSONValue {
    /// The value's UTF-8 text, compact, members in their order.
    public func serialized() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)  // a token's claims, mostly
        write(to: &bytes)
        return bytes
    }

    private func write(to bytes: inout [UInt8]) {
        switch self {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .integer(let value): bytes.append(contentsOf: String(value).utf8)
        case .number(let literal): bytes.append(contentsOf: literal.utf8)
        case .string(let value): Self.write(value, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for index in elements.indices {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                elements[index].write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            let members = object.members
            for index in members.indices {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                Self.write(members[index].name, to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                members[index].value.write(to: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { content in
            if content.contains(where: needsEscape) {
                for byte in content { writeEscaped(byte, to: &bytes) }
            } else {
                bytes.append(contentsOf: content)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func writeEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x00..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(contentsOf: Hex.encode([byte]).utf8)
        default:
            bytes.append(byte)
        }
    }
}

extension JSONObject {
    /// The object's UTF-8 text, compact, members in their order.
    public func serialized() -> [UInt8] {
        JSONValue.object(self).serialized()
    }

    /// The same as a string.
    public var text: String {
        String(decoding: serialized(), as: UTF8.self)
    }
}
