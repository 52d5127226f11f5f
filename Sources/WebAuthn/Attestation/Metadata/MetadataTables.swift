import Certificates
import JOSE

/// The models of a file's entries (Metadata Service 3, section 3.1.1). An entry that can't be read is left out and counted: its model is
/// then unknown, which rejects it.
struct MetadataTables {
    /// The maximum of identifiers of keys in an entry.
    private static let keysMax = 1024
    /// The maximum of reports in an entry.
    private static let reportsMax = 1024

    private(set) var byModel: [[UInt8]: AuthenticatorModel] = [:]
    private(set) var byKey: [[UInt8]: AuthenticatorModel] = [:]
    private(set) var unusableCount = 0

    /// Adds an entry. Those of UAF, the protocol before WebAuthn, have none of the names by which models are looked up.
    mutating func add(_ value: JSONValue) {
        guard let entry = value.object else { return unusableCount += 1 }
        let names = (entry["aaguid"], entry["attestationCertificateKeyIdentifiers"])
        guard names != (nil, nil) else { return }
        guard let model = model(of: entry) else { return unusableCount += 1 }
        if let name = names.0 {
            guard let aaguid = name.string.flatMap(Self.identifier) else { return unusableCount += 1 }
            Self.insert(model, aaguid, into: &byModel)
        }
        if let name = names.1 {
            guard let keys = name.array, keys.count <= Self.keysMax else { return unusableCount += 1 }
            for key in keys {
                if let bytes = key.string.flatMap({ Hex.decode($0) }), bytes.count == 20 {
                    Self.insert(model, bytes, into: &byKey)
                } else {
                    unusableCount += 1
                }
            }
        }
    }

    /// Of two entries with one name no one knows which is right.
    private static func insert(
        _ model: AuthenticatorModel,
        _ name: [UInt8],
        into table: inout [[UInt8]: AuthenticatorModel]
    ) {
        let isNew = table[name] == nil
        table[name] =
            isNew ? model : AuthenticatorModel(description: model.description, isTrusted: false, anchors: nil)
    }

    private mutating func model(of entry: JSONObject) -> AuthenticatorModel? {
        guard let statement = entry["metadataStatement"]?.object, let description = statement["description"]?.string,
            description.utf8.count <= AuthenticatorModel.descriptionBytesMax,
            let roots = statement["attestationRootCertificates"]?.array, roots.count <= TrustAnchors.anchorsMax,
            let reports = entry["statusReports"]?.array, reports.count <= Self.reportsMax
        else { return nil }
        var certificates: [Certificate] = []
        for root in roots {
            if let certificate = root.string.flatMap(Self.certificate) {
                certificates.append(certificate)
            } else {
                unusableCount += 1
            }
        }
        return AuthenticatorModel(
            description: description,
            isTrusted: !reports.isEmpty && reports.allSatisfy(Self.isHarmless),
            anchors: TrustAnchors(certificates, kind: .anyCertificate)
        )
    }

    /// A certificate in base64, which some entries break into lines.
    private static func certificate(_ text: String) -> Certificate? {
        guard text.utf8.count <= 2 * Certificate.bytesMax else { return nil }
        let spaces: Set<UInt8> = [0x20, 0x09, 0x0a, 0x0d]
        let joined = String(decoding: text.utf8.filter { !spaces.contains($0) }, as: UTF8.self)
        return StandardBase64.decode(joined).flatMap { try? Certificate(der: $0) }
    }

    /// The bytes of a UUID in its usual form.
    private static func identifier(_ text: String) -> [UInt8]? {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard parts.map(\.count) == [8, 4, 4, 4, 12] else { return nil }
        return Hex.decode(String(decoding: parts.joined(), as: UTF8.self))
    }

    /// Whether a report (section 3.1.3) is known to say nothing bad. A status that is not known here may, so it is not trusted. A
    /// report stays in the list when the model is mended, and its authenticators in the field may not be: so all count.
    private static func isHarmless(_ report: JSONValue) -> Bool {
        guard let status = report.object?["status"]?.string else { return false }
        return harmless.contains { $0.utf8.elementsEqual(status.utf8) }
    }

    private static let harmless =
        [
            "NOT_FIDO_CERTIFIED", "SELF_ASSERTION_SUBMITTED", "FIDO_CERTIFIED", "UPDATE_AVAILABLE",
        ]
        + ["1", "1plus", "2", "2plus", "3", "3plus"].map { "FIDO_CERTIFIED_L\($0)" }
        + (1...4).map { "FIPS140_CERTIFIED_L\($0)" }
}
