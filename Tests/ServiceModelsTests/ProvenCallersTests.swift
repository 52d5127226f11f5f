import API
import Logging
import Models
import RPC
import ServiceKit
import ServiceModels
import Testing

/// Whom a service takes a call for.
struct ProvenCallersTests {
    private static let clock = WallClock { 1_800_000_000_000 }
    private let key: CallerProofKey
    private let user: UserID

    init() throws {
        key = try #require(CallerProofKey([UInt8](repeating: 3, count: 32)))
        user = try #require(UserID("0190c2a5-7f00-7000-8000-000000000001"))
    }

    private func callers() -> ProvenCallers { ProvenCallers(service: "profile", keys: [key], clock: Self.clock) }

    private func context(_ proof: String?) -> ServerContext {
        var metadata = Metadata(["x-request-id": "r"])
        if let proof { metadata.add("vestibule-caller-proof", proof) }
        return ServerContext(
            ServerCall(
                method: ProfileServiceMethods.getProfile,
                metadata: metadata,
                deadline: nil,
                peer: PeerInfo(address: "127.0.0.1:1", isEncrypted: false, certificateNames: [])
            )
        )
    }

    private func proof(of user: UserID) -> String {
        let minute = CallerProof.minute(madeAtMilliseconds: Self.clock.nowMilliseconds)
        return CallerProof(userID: user, sessionID: nil, minute: minute).text(under: key, for: "profile")
    }

    @Test func `The user is that of the proof`() throws {
        let context = context(proof(of: user))
        #expect(try callers().user(of: context) == user)
        #expect(try callers().userIfAny(of: context) == user)
    }

    @Test func `Without a proof there is no user`() throws {
        #expect(throws: CallerProofError.missing) { try callers().user(of: context(nil)) }
        #expect(try callers().userIfAny(of: context(nil)) == nil)
        for text in ["", "nonsense"] {
            #expect(throws: CallerProofError.malformed) { try callers().user(of: context(text)) }
            #expect(throws: CallerProofError.malformed) { try callers().userIfAny(of: context(text)) }
        }
    }

    @Test func `Refusals say what is wrong and no more`() {
        let told = [CallerProofError.missing, .malformed, .forged, .expired].map(\.rpcError)
        #expect(told.allSatisfy { $0.code == .unauthenticated })
        #expect(
            told.map(\.reason) == [
                "CALLER_PROOF_REQUIRED", "CALLER_PROOF_INVALID", "CALLER_PROOF_INVALID", "CALLER_PROOF_EXPIRED",
            ]
        )
    }
}
