import DPoP
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import Testing

@testable import GatewayService

/// What becomes of proofs at the gateway beside their verification, which has tests of its own.
struct KeyProofsTests {
    private static let address = "https://api.example.org"

    /// A client's key.
    private struct Key {
        private let key: SigningKey

        init() throws { key = try SigningKey.generateP256() }

        func proof(_ identifier: String) throws -> String {
            let header: JSONObject = [
                "typ": "dpop+jwt", "alg": "ES256", "jwk": .object(key.verificationKey.requiredJWKMembers),
            ]
            let claims: JSONObject = [
                "jti": .string(identifier), "htm": "POST", "htu": .string(KeyProofsTests.address + "/auth/guest"),
                "iat": 1000,
            ]
            let input = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(claims.serialized())
            return input + "." + Base64URL.encode(try key.sign(Array(input.utf8)))
        }
    }

    private static func proofs(_ memory: SeenProofs) throws -> KeyProofs {
        KeyProofs(
            address: try #require(TargetURI(address)),
            requiresNonce: false,
            ofAnyone: memory,
            now: { DPoPInstant(unixSeconds: 1000, monotonicSeconds: 1000) }
        )
    }

    @Test func `A key that makes too many proofs has to wait, and takes no room from others`() throws {
        let proofs = try Self.proofs(SeenProofs(proofsMax: 6400, proofsOfKeyMax: 3))
        let (busy, other) = (try Key(), try Key())
        for number in 1...3 { try proofs.use(try verified(busy.proof("\(number)"), by: proofs), in: .anyone) }
        let fourth = try verified(busy.proof("4"), by: proofs)
        let problem = #expect(throws: Problem.self) { try proofs.use(fourth, in: .anyone) }
        #expect(problem?.status == .tooManyRequests && problem?.code == "RATE_LIMITED")
        #expect(problem?.headers[.retryAfter] == "120")
        try proofs.use(try verified(other.proof("1"), by: proofs), in: .anyone)
    }

    @Test func `Where there is no room no proof is accepted, and sessions have a memory of their own`() throws {
        let proofs = try Self.proofs(SeenProofs(proofsMax: 64))
        var codes: Set<String> = []
        for number in 1...100 {
            let proof = try verified(Key().proof("\(number)"), by: proofs)
            do {
                try proofs.use(proof, in: .anyone)
            } catch {
                codes.insert(error.code)
                #expect(error.status == .serviceUnavailable && error.headers[.retryAfter] != nil)
                try proofs.use(proof, in: .session)
            }
        }
        #expect(codes == ["UNAVAILABLE"])
    }

    @Test func `A proof is good once, whichever way it comes`() throws {
        let proofs = try Self.proofs(SeenProofs())
        let proof = try verified(try Key().proof("1"), by: proofs)
        try proofs.use(proof, in: .anyone)
        let problem = #expect(throws: Problem.self) { try proofs.use(proof, in: .anyone) }
        #expect(problem?.code == "DPOP_PROOF_INVALID")
        #expect(problem?.headers[.wwwAuthenticate]?.contains("error=\"invalid_dpop_proof\"") == true)
    }

    /// A proof that the DPoP module has verified.
    private func verified(_ text: String, by proofs: KeyProofs) throws -> DPoPProof {
        var metadata = Metadata()
        metadata.add("dpop", text)
        let request = (method: "POST", path: "/auth/guest")
        return try #require(try proofs.proof(of: RequestFields(metadata), request, accessToken: nil))
    }
}
