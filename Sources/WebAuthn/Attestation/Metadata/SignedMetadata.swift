import Certificates
import JOSE

/// A JWS whose header brings the certificates of its signer (RFC 7515 section 4.1.6). ``CompactJWS`` rejects such a header, as tokens must
/// not bring their own keys: here the certificates lead to a root of the configuration.
struct SignedMetadata {
    /// The bounds of the header.
    private static let headerLimits = JSONLimits(bytesMax: 64 * 1024, depthMax: 4, valuesMax: 64)
    /// The bounds of the payload. FIDO's has some hundred values an entry.
    private static let payloadLimits = JSONLimits(bytesMax: MetadataBlob.bytesMax, depthMax: 16, valuesMax: 2_000_000)

    private let algorithm: SignatureAlgorithm
    private let chain: [Certificate]
    private let signed: [UInt8]
    private let payload: [UInt8]
    private let signature: [UInt8]

    init(parsing file: [UInt8]) throws(MetadataError) {
        guard file.count <= MetadataBlob.bytesMax else { throw .tooLarge }
        let end = file.lastIndex { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") } ?? -1
        let parts = file[...end].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(utf8: parts[0]),
            let header = try? JSONObject(parsing: headerBytes, limits: Self.headerLimits),
            let payload = Base64URL.decode(utf8: parts[1]), let signature = Base64URL.decode(utf8: parts[2]),
            let name = header["alg"]?.string, let elements = header["x5c"]?.array, header["crit"] == nil,
            header["b64"] == nil
        else { throw .malformed }
        guard let algorithm = SignatureAlgorithm(rawValue: name) else { throw .unsupportedAlgorithm }
        guard elements.count <= TrustAnchors.chainCertificatesMax else { throw .untrusted(.tooLong) }
        var chain: [Certificate] = []
        for element in elements {
            guard let der = element.string.flatMap({ StandardBase64.decode($0) }),
                let certificate = try? Certificate(der: der)
            else { throw .malformed }
            chain.append(certificate)
        }
        self.algorithm = algorithm
        self.chain = chain
        signed = Array(file[..<parts[1].endIndex])
        self.payload = payload
        self.signature = signature
    }

    func verifiedPayload(roots: TrustAnchors, signer: String, now: Int) throws(MetadataError) -> JSONObject {
        do { try roots.verify(chain, at: now) } catch { throw .untrusted(error) }
        guard chain[0].subject(.commonName)?.utf8.elementsEqual(signer.utf8) == true else { throw .wrongSigner }
        guard let key = try? VerificationKey(publicKeyInfo: chain[0].publicKeyInfo), key.type == algorithm.keyType
        else {
            throw .unsupportedAlgorithm
        }
        guard key.verifies(signature, of: signed, algorithm: algorithm) else { throw .badSignature }
        do throws(JSONError) {
            return try JSONObject(parsing: payload, limits: Self.payloadLimits)
        } catch .tooManyValues {
            throw .tooLarge
        } catch {
            throw .malformed
        }
    }
}

/// A day of the calendar, `YYYY-MM-DD` (ISO 8601).
struct CivilDay {
    /// The start of the day in UTC, in seconds since 1970.
    let seconds: Int

    /// The day that a text names; nil for another form, and for a day outside of the years 1970 to 9999.
    init?(_ text: String) {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [4, 2, 2], text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || 48...57 ~= $0 }) else {
            return nil
        }
        let numbers = parts.map { $0.reduce(0) { $0 * 10 + Int($1) - 48 } }
        let (year, month, day) = (numbers[0], numbers[1], numbers[2])
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard year >= 1970, 1...12 ~= month, 1...lengths[month - 1] ~= day else { return nil }
        let before = year - 1
        let days =
            before * 365 + before / 4 - before / 100 + before / 400 + lengths[..<(month - 1)].reduce(0, +) + day - 1
        seconds = (days - Self.daysBefore1970) * 86_400
    }

    /// The days from year 1 to 1970.
    private static let daysBefore1970 = 719_162
}
