import JOSE
import Testing

@testable import DPoP

/// What other implementations judged: proofs, nonces and URIs.
struct VectorTests {
    private static let errors: [String: DPoPError] = Dictionary(
        uniqueKeysWithValues: DPoPError.allCases.map { ("\($0)", $0) }
    )

    @Test func `Proofs are judged as others judge them`() throws {
        var accepted = 0
        let nonces = try Vectors.nonces()
        for vector in try Vectors.all("proofs") {
            let name = try #require(vector["name"]?.string)
            let verifier = DPoPVerifier(nonces: nonces, requiresNonce: vector["requiresNonce"] == true)
            let text = try #require(vector["proof"]?.string)
            let request = try Vectors.request(of: vector)
            if let errorName = vector["error"]?.string {
                let error = try #require(Self.errors[errorName])
                #expect(throws: error, "\(name)") {
                    try verifier.verify(text, of: request, now: Vectors.now())
                }
                continue
            }
            accepted += 1
            let proof = try verifier.verify(text, of: request, now: Vectors.now())
            #expect(proof.thumbprint.text == vector["jkt"]?.string, "\(name)")
            #expect(Base64URL.encode(proof.fingerprint.bytes) == vector["fingerprint"]?.string, "\(name)")
            #expect(proof.hasNonce == name.contains("nonce") || name.contains("at once"), "\(name)")
        }
        #expect(accepted == 9)
    }

    /// Every proof that ours rejects is rejected by another one too, but for the key that a session is bound to, which they don't
    /// look at.
    @Test func `No rejection is ours alone`() throws {
        for vector in try Vectors.all("proofs") where vector["error"] != nil {
            let isOurs = vector["rejectedBy"]?.array?.isEmpty
            #expect(isOurs == (vector["error"] == "wrongKey"), "\(vector["name"] ?? .null)")
        }
    }

    @Test func `Nonces are made as another implementation makes them`() throws {
        let nonces = try Vectors.nonces()
        for vector in try Vectors.all("nonces") {
            let seconds = try #require(vector["monotonicSeconds"]?.integer)
            #expect(nonces.current(monotonicSeconds: seconds) == vector["nonce"]?.string, "\(seconds)")
        }
    }

    @Test func `URIs have the spelling that another implementation gives them`() throws {
        let vectors = try Vectors.all("uris")
        #expect(vectors.count > 30)
        for vector in vectors {
            let uri = try Vectors.uri(vector["uri"])
            #expect(uri.description == vector["normal"]?.string)
            for other in vectors {
                let second = try Vectors.uri(other["uri"])
                #expect((uri == second) == (vector["normal"] == other["normal"]), "\(uri) \(second)")
            }
        }
    }
}
