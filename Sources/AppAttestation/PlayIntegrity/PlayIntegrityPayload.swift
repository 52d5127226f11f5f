import JOSE

/// The payload of an integrity token, parsed and not yet compared with anything. Members that are not named here are ignored: Google adds
/// some by the configuration of the console.
struct PlayIntegrityPayload {
    /// The maximum of a number: beyond 2^53 JSON is not exact.
    static let numberMax: Int64 = 1 << 53
    /// The bounds of the JSON text.
    static let limits = JSONLimits(bytesMax: PlayIntegrity.tokenBytesMax, depthMax: 8, valuesMax: 512)
    /// The maximum of certificates, and of labels.
    static let elementsMax = 32
    /// The maximum length of a text in bytes; a nonce has at most 500.
    static let textBytesMax = 1024

    let requestPackageName: String
    let requestMilliseconds: Int64
    let recognition: String
    let packageName: String?
    let certificateDigests: [[UInt8]]
    let versionCode: Int64?
    let deviceLabels: [String]
    let licensing: String?
    let isTestResponse: Bool

    private let nonce: String?
    private let requestHash: String?

    init(parsing text: [UInt8]) throws(PlayIntegrityError) {
        guard let payload = try? JSONObject(parsing: text, limits: Self.limits) else { throw .malformed(.payload) }
        let request = try Self.object(payload, "requestDetails", .requestDetails)
        guard let requestPackageName = try request.text("requestPackageName"),
            let requestMilliseconds = try request.number("timestampMillis")
        else { throw .malformed(.requestDetails) }
        self.requestPackageName = requestPackageName
        self.requestMilliseconds = requestMilliseconds
        nonce = try request.text("nonce")
        requestHash = try request.text("requestHash")

        let app = try Self.object(payload, "appIntegrity", .appIntegrity)
        guard let recognition = try app.text("appRecognitionVerdict") else { throw .malformed(.appIntegrity) }
        self.recognition = recognition
        packageName = try app.text("packageName")
        versionCode = try app.number("versionCode")
        var digests: [[UInt8]] = []
        for text in try app.texts("certificateSha256Digest") {
            guard let digest = Self.bytes(text) else { throw .malformed(.appIntegrity) }
            digests.append(digest)
        }
        certificateDigests = digests

        deviceLabels = try Self.object(payload, "deviceIntegrity", .deviceIntegrity).texts("deviceRecognitionVerdict")
        licensing = try Self.object(payload, "accountDetails", .accountDetails).text("appLicensingVerdict")
        isTestResponse = try Self.object(payload, "testingDetails", .testingDetails).isTrue("isTestingResponse")
    }

    /// Whether the payload was made for this request, and not for the other kind of requests.
    func answers(_ request: PlayIntegrityRequest) -> Bool {
        switch request {
        case .nonce(let bytes):
            guard requestHash == nil, !bytes.isEmpty, let nonce = nonce.flatMap(Self.bytes) else { return false }
            return ConstantTime.areEqual(nonce, bytes)
        case .requestHash(let text):
            guard nonce == nil, !text.isEmpty, let requestHash else { return false }
            return ConstantTime.areEqual(requestHash, text)
        }
    }

    /// The bytes of base64url, with padding or without: Google writes a nonce with it, and digests without.
    private static func bytes(_ text: String) -> [UInt8]? {
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        guard padding == 0 || (padding <= 2 && text.utf8.count.isMultiple(of: 4)) else { return nil }
        return Base64URL.decode(utf8: text.utf8.dropLast(padding))
    }

    /// A member of the payload; one that is missing has no members.
    private static func object(
        _ payload: JSONObject,
        _ name: String,
        _ member: PlayIntegrityError.Member
    ) throws(PlayIntegrityError) -> Part {
        guard let value = payload[name] else { return Part(object: JSONObject(), member: member) }
        guard let object = value.object else { throw .malformed(member) }
        return Part(object: object, member: member)
    }

    /// An object of the payload, whose members have the right types or are not there.
    private struct Part {
        let object: JSONObject
        let member: PlayIntegrityError.Member

        func text(_ name: String) throws(PlayIntegrityError) -> String? {
            guard let value = object[name] else { return nil }
            return try text(value)
        }

        func texts(_ name: String) throws(PlayIntegrityError) -> [String] {
            guard let value = object[name] else { return [] }
            guard let elements = value.array, elements.count <= elementsMax else { throw .malformed(member) }
            var texts: [String] = []
            for element in elements { texts.append(try text(element)) }
            return texts
        }

        /// A number from 0 to ``numberMax``, which Google writes as a text, as protocol buffers have it, and wrote as a number.
        func number(_ name: String) throws(PlayIntegrityError) -> Int64? {
            guard let value = object[name] else { return nil }
            let written = value.string.flatMap { text in Int64(text).flatMap { "\($0)" == text ? $0 : nil } }
            guard let number = value.integer ?? written, 0...numberMax ~= number else { throw .malformed(member) }
            return number
        }

        func isTrue(_ name: String) throws(PlayIntegrityError) -> Bool {
            guard let value = object[name] else { return false }
            guard let isTrue = value.bool else { throw .malformed(member) }
            return isTrue
        }

        private func text(_ value: JSONValue) throws(PlayIntegrityError) -> String {
            guard let text = value.string, text.utf8.count <= textBytesMax else { throw .malformed(member) }
            return text
        }
    }
}
