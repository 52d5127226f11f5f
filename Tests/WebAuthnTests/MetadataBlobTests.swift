import Certificates
import JOSE
import TestWaits
import Testing

@testable import WebAuthn

/// Files of the FIDO Metadata Service, as `attestation_oracle.py` signed them.
struct MetadataBlobTests {
    private static let errors: [String: MetadataError] = [
        "tooLarge": .tooLarge, "malformed": .malformed, "unsupportedAlgorithm": .unsupportedAlgorithm,
        "wrongSigner": .wrongSigner, "badSignature": .badSignature,
    ]

    private static func isExpected(_ error: MetadataError, _ name: String) -> Bool {
        if case .untrusted = error { return name == "untrusted" }
        return errors[name] == error
    }

    @Test func `Files are judged by their signer, their signature and their form`() throws {
        let roots = try AttestationVectors.roots()
        var (accepted, rejected) = (0, Set<String>())
        for vector in try AttestationVectors.all("files") {
            let name = try #require(vector["name"]?.string)
            let file = Array(try #require(vector["file"]?.string).utf8)
            if let expected = vector["error"]?.string {
                let error = #expect(throws: MetadataError.self, "\(name)") {
                    try MetadataBlob(parsing: file, roots: roots, now: AttestationVectors.now)
                }
                #expect(error.map { Self.isExpected($0, expected) } == true, "\(name)")
                rejected.insert(expected)
            } else {
                accepted += 1
                let metadata = try MetadataBlob(parsing: file, roots: roots, now: AttestationVectors.now)
                #expect(metadata.number == 15 && metadata.modelCount == 1, "\(name)")
                #expect(metadata.nextUpdateSeconds == 1_801_353_600, "\(name)")
            }
        }
        #expect(accepted == 4 && rejected == Set(Self.errors.keys).union(["untrusted"]))
    }

    @Test func `A file's models are trusted or not, and what can't be read is counted`() throws {
        let metadata = try AttestationVectors.metadata()
        func model(_ last: UInt8) -> AuthenticatorModel? {
            metadata.model(aaguid: [UInt8](repeating: 0xa0, count: 15) + [last])
        }
        #expect(metadata.unusableCount == 2)
        #expect(metadata.modelCount == 19)
        #expect(model(1)?.description == "A key" && model(1)?.isTrusted == true && model(1)?.anchors != nil)
        #expect(model(4)?.isTrusted == true && model(4)?.anchors == nil)
        #expect(model(5)?.isTrusted == true && model(5)?.anchors == nil)
        // Two entries; no report; mended after a compromise.
        for last in [6, 10, 11] as [UInt8] { #expect(model(last)?.isTrusted == false) }
        for last in 100...105 as ClosedRange<UInt8> { #expect(model(last)?.isTrusted == false) }
        #expect(model(200) == nil)
        #expect(metadata.model(aaguid: []) == nil)
    }

    @Test func `A file that is too large is rejected before it is read`() throws {
        let file = [UInt8](repeating: UInt8(ascii: "A"), count: MetadataBlob.bytesMax + 1)
        #expect(throws: MetadataError.tooLarge) {
            try MetadataBlob(parsing: file, roots: AttestationVectors.roots(), now: AttestationVectors.now)
        }
    }

    @Test(arguments: [
        ("1970-01-01", 0), ("1972-02-29", 68_169_600), ("2000-03-01", 951_868_800), ("2026-11-29", 1_795_910_400),
        ("9999-12-31", 253_402_214_400),
    ])
    func `A day is counted from 1970`(text: String, seconds: Int) {
        #expect(CivilDay(text)?.seconds == seconds)
    }

    @Test(arguments: [
        "", "1969-12-31", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32", "2025-02-29", "2100-02-29",
        "2026-1-01",
        "2026-01-011", "2026-01", "2026-01-01-01", "20 6-01-01", "-026-01-01", "2026-01-0\u{661}",
    ])
    func `A text that names no day is rejected`(text: String) {
        #expect(CivilDay(text) == nil)
    }

    @Test func `No file with one change is accepted`() async throws {
        let seed: UInt64 = 20_261_132
        print("seed \(seed)")
        var random = SeededRandom(seed: seed)
        let roots = try AttestationVectors.roots()
        let file = Array(try #require(AttestationVectors.all("files").first?["file"]?.string).utf8)
        for round in 0..<2_000 {
            // So that other tests run meanwhile, some of which wait for a limited time.
            await Task.yield()
            let changed = random.mutated(file)
            let isAccepted = (try? MetadataBlob(parsing: changed, roots: roots, now: AttestationVectors.now)) != nil
            #expect(isAccepted == (changed == file), "round \(round)")
        }
    }

    /// Entries of any form: nothing traps, and no model is trusted that the entry doesn't name.
    @Test func `Entries of any form are read or counted`() throws {
        let entries: [JSONValue] = [
            5, [], [:], ["aaguid": 5], ["aaguid": "x", "metadataStatement": [:], "statusReports": []],
            ["attestationCertificateKeyIdentifiers": "x"], ["aaguid": nil as JSONValue? ?? .null],
        ]
        var tables = MetadataTables()
        for entry in entries { tables.add(entry) }
        #expect(tables.byModel.isEmpty && tables.byKey.isEmpty && tables.unusableCount == 6)
        let good: JSONObject = ["description": "", "attestationRootCertificates": []]
        tables.add([
            "aaguid": "a0", "metadataStatement": .object(good), "statusReports": [["status": "FIDO_CERTIFIED"]],
        ])
        tables.add([
            "attestationCertificateKeyIdentifiers": ["00", 5], "metadataStatement": .object(good),
            "statusReports": [["status": "FIDO_CERTIFIED"]],
        ])
        tables.add([
            "attestationCertificateKeyIdentifiers": 5, "metadataStatement": .object(good), "statusReports": [],
        ])
        #expect(tables.byModel.isEmpty && tables.byKey.isEmpty && tables.unusableCount == 10)
    }
}
