import HTTPTypes
import RPC

/// The fields of answers, packed as transports take them. What every answer of a kind has is packed once.
final class AnswerFields: Sendable {
    /// What every answer has that says nothing else: a page says itself what it may load. Answers hold tokens and personal
    /// data, so that those that may be kept say so themselves.
    private static let defaults: [(name: HTTPField.Name, value: String)] = [
        (.xContentTypeOptions, "nosniff"), (.referrerPolicy, "no-referrer"),
        (.contentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'"), (.cacheControl, "no-store"),
    ]

    private let strictTransport: [UInt8]
    private let calls: [UInt8]
    /// Answers without fields of their own: those that are nothing in particular, and JSON.
    private let plain: Kind
    private let json: Kind

    /// What each answer of a kind has, up to the value of its request's id.
    private struct Kind: Sendable {
        let fields: [UInt8]
        private let withoutID: [UInt8]
        /// Where the length of the id stands.
        private var lengthPlace: Int { fields.count + MemoryLayout<UInt16>.size }

        init(_ fields: [UInt8]) {
            self.fields = fields
            var all = fields
            all.appendField(.requestID, "")
            withoutID = all
        }

        /// All that an answer has. Put together beside the array, which then is made at its length.
        func packed(requestID: String) -> [UInt8] {
            var requestID = requestID
            return requestID.withUTF8 { requestID in
                withUnsafeTemporaryAllocation(of: UInt8.self, capacity: withoutID.count + requestID.count) { all in
                    let bytes = UnsafeMutableRawBufferPointer(all)
                    bytes.copyBytes(from: withoutID)
                    let length = UInt32(truncatingIfNeeded: requestID.count)
                    bytes.storeBytes(of: length, toByteOffset: lengthPlace, as: UInt32.self)
                    UnsafeMutableRawBufferPointer(rebasing: bytes[withoutID.count...]).copyBytes(from: requestID)
                    return Array(all)
                }
            }
        }
    }

    /// - Parameter strictTransportSeconds: `max-age` of Strict-Transport-Security; 0 sends none.
    init(strictTransportSeconds: Int64) {
        var strictTransport: [UInt8] = []
        if strictTransportSeconds > 0 {
            strictTransport.appendField(.strictTransportSecurity, "max-age=\(strictTransportSeconds)")
        }
        var plain: [UInt8] = []
        for field in Self.defaults { plain.appendField(field.name, field.value) }
        plain += strictTransport
        self.strictTransport = strictTransport
        var calls: [UInt8] = []
        calls.appendField(.xContentTypeOptions, "nosniff")
        self.calls = calls + strictTransport
        self.plain = Kind(plain)
        var json = plain
        json.appendField(.contentType, Response.jsonType)
        self.json = Kind(json)
    }

    /// The fields of an answer. What the transport says itself is left out.
    ///
    /// - Parameter origin: the fields for pages of other origins; nil for none.
    func packed(_ response: Response, requestID: String, origin: CrossOrigin.Answer?) -> Metadata {
        var packed: [UInt8]
        switch response.contentType {
        case .some(Response.jsonType) where response.headers.isEmpty: packed = json.packed(requestID: requestID)
        case nil where response.headers.isEmpty: packed = plain.packed(requestID: requestID)
        case let type:
            packed = []
            packed.reserveCapacity(json.fields.count + 192)
            pack(response.headers, type, into: &packed)
            packed.appendField(.requestID, requestID)
        }
        origin?.pack(into: &packed)
        return Metadata(packed: packed)
    }

    /// What the answer to a call has besides its protocol's own, which may say whether it is kept.
    func ofCall(origin: CrossOrigin.Answer?) -> Metadata {
        var packed = calls
        origin?.pack(into: &packed)
        return Metadata(packed: packed)
    }

    private func pack(_ fields: HTTPFields, _ contentType: String?, into packed: inout [UInt8]) {
        for (name, value) in Self.defaults where !fields.contains(name) { packed.appendField(name, value) }
        packed += strictTransport
        if let contentType, !fields.contains(.contentType) { packed.appendField(.contentType, contentType) }
        for field in fields where !Self.isTransports(field.name) { packed.appendField(field.name, field.value) }
    }

    private static func isTransports(_ name: HTTPField.Name) -> Bool {
        name == .connection || name == .contentLength || name == .requestID || name == .strictTransportSecurity
    }
}

extension [UInt8] {
    /// Appends a field in the layout of `Metadata`. Bytes of the value that no field may have are left out (RFC 9110 section
    /// 5.5), so that nobody makes two fields of one.
    mutating func appendField(_ name: HTTPField.Name, _ value: String) {
        let name = name.canonicalName
        var value = value
        let isClean = value.withUTF8 { !$0.contains { $0 < 0x20 || $0 == 0x7f } }
        if !isClean { value = String(decoding: value.utf8.filter { $0 >= 0x20 && $0 != 0x7f }, as: UTF8.self) }
        Swift.withUnsafeBytes(of: UInt16(truncatingIfNeeded: name.utf8.count)) { append(contentsOf: $0) }
        Swift.withUnsafeBytes(of: UInt32(truncatingIfNeeded: value.utf8.count)) { append(contentsOf: $0) }
        append(contentsOf: name.utf8)
        append(contentsOf: value.utf8)
    }
}
