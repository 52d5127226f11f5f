/// A statement with its parameters. Made from a string literal: each `\(value)` becomes a bind parameter, never text.
///
/// The text with the parameters' types is the key of the prepared statement, so write variable parts as parameters:
/// a text that changes with each call would be prepared each time.
public struct Query: Sendable {
    /// The statement with `$1`, `$2`, … where the values belong.
    public let text: String
    /// Hash of the text and the parameters' types, made once while the text was put together.
    let hash: UInt64
    /// The values, one after another: type, length (−1 for NULL), bytes.
    let parameters: [UInt8]
    /// How many there are.
    let parameterCount: Int

    /// The protocol counts parameters in 16 bits.
    static let parametersMax = 65_535

    /// A statement made at run time, without parameters. Input in its text becomes SQL.
    public init(unsafeSQL text: String) {
        self.text = text
        hash = Self.mix(0, text)
        parameters = []
        parameterCount = 0
    }

    /// A statement put together elsewhere: the hash is of ``hash(of:parameter:)``, the parameters as described.
    init(text: String, hash: UInt64, parameters: [UInt8], parameterCount: Int) {
        self.text = text
        self.hash = hash
        self.parameters = parameters
        self.parameterCount = parameterCount
    }

    /// The hash of a text with one parameter.
    static func hash(of text: String, parameter: PostgresType) -> UInt64 {
        mix(mix(0, text), UInt64(parameter.rawValue))
    }

    /// Eight bytes at a time, multiplied and folded. Texts come from our own source, so no one can choose collisions;
    /// one would only cost the comparison that follows.
    fileprivate static func mix(_ seed: UInt64, _ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 { buffer in
            let bytes = UnsafeRawBufferPointer(buffer)
            var hash = mix(seed, UInt64(bytes.count))
            var offset = 0
            while offset + 8 <= bytes.count {
                hash = mix(hash, bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            return mix(hash, rest)
        }
    }

    fileprivate static func mix(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        let product = (hash ^ value ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        return product.high ^ product.low
    }
}

extension Query: ExpressibleByStringInterpolation {
    /// A statement without parameters.
    public init(stringLiteral value: String) { self.init(unsafeSQL: value) }

    /// A statement with its values.
    public init(stringInterpolation: StringInterpolation) {
        self.init(
            text: stringInterpolation.text,
            hash: stringInterpolation.hash,
            parameters: stringInterpolation.parameters,
            parameterCount: stringInterpolation.parameterCount
        )
    }

    /// Gathers text and values.
    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var hash: UInt64 = 0
        var parameters: [UInt8] = []
        var parameterCount = 0

        private static let firstNames = (0...16).map { "$\($0)" }

        /// Makes room for what the compiler says will come.
        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 3)
            parameters.reserveCapacity(interpolationCount * 32)
        }

        /// A piece of the statement.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
            hash = Query.mix(hash, literal)
        }

        /// A parameter.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
            name(Value.postgresType)
            let lengthAt = parameters.count
            parameters.append(bigEndian: Int32(0))
            value.encode(into: &parameters)
            let length = UInt32(parameters.count - lengthAt - 4)
            for byte in 0..<4 {
                parameters[lengthAt + byte] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(byte)))
            }
        }

        /// A parameter that is NULL if the value is nil.
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            if let value { return appendInterpolation(value) }
            name(Value.postgresType)
            parameters.append(bigEndian: Int32(-1))
        }

        /// Text that becomes part of the statement: the name of a table or schema, say. Never anything from outside.
        public mutating func appendInterpolation(unsafeSQL: String) {
            text += unsafeSQL
            hash = Query.mix(hash, unsafeSQL)
        }

        private mutating func name(_ type: PostgresType) {
            parameterCount += 1
            text += parameterCount < Self.firstNames.count ? Self.firstNames[parameterCount] : "$\(parameterCount)"
            hash = Query.mix(hash, UInt64(type.rawValue))
            parameters.append(bigEndian: type.rawValue)
        }
    }
}

extension Query {
    /// Calls the body for each parameter: its type and its bytes, nil for NULL. The pointers are good inside only.
    func forEachParameter(_ body: (PostgresType, UnsafeRawBufferPointer?) -> Void) {
        parameters.withUnsafeBytes { bytes in
            var offset = 0
            for _ in 0..<parameterCount {
                let type = PostgresType(rawValue: bytes.bigEndian(offset, as: UInt32.self))
                let length = Int(bytes.bigEndian(offset + 4, as: Int32.self))
                offset += 8
                guard length >= 0 else {
                    body(type, nil)
                    continue
                }
                body(type, UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + length)]))
                offset += length
            }
        }
    }

    /// The parameters' types, in order.
    var parameterTypes: [PostgresType] {
        var types: [PostgresType] = []
        forEachParameter { type, _ in types.append(type) }
        return types
    }
}
