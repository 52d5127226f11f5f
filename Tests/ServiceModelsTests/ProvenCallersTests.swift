import API
import Logging
import Models
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

/// Whom a service takes a call for.
struct ProvenCallersTests {
    private static let clock = WallClock { 1_800_000_000_000 }
    private let key: CallerProofKey
    private let user: UserID
    private let other: UserID

    init() throws {
        key = try #require(CallerProofKey([UInt8](repeating: 3, count: 32)))
        user = try #require(UserID("0190c2a5-7f00-7000-8000-000000000001"))
        other = try #require(UserID("0190c2a5-7f00-7000-8000-000000000002"))
    }

    private func callers(acceptsEarlierGateways: Bool = false) -> ProvenCallers {
        ProvenCallers(
            service: "profile",
            keys: [key],
            acceptsEarlierGateways: acceptsEarlierGateways,
            clock: Self.clock
        )
    }

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

    /// A request's unknown fields, as a gateway of the version before sends them.
    private func earlier(_ userID: String) throws -> UnknownStorage {
        let sent = try ProfileV1.LookUpProfileRequest.with { $0.userID = userID }.serializedBytes() as [UInt8]
        return try ProfileV1.GetProfileRequest(serializedBytes: sent).unknownFields
    }

    @Test func `The user is that of the proof`() throws {
        let context = context(proof(of: user))
        #expect(try callers().user(of: context, earlier: .init()) == user)
        #expect(try callers().userIfAny(of: context, earlier: .init()) == user)
        #expect(try callers().user(of: context, earlier: earlier(other.description)) == user)
    }

    @Test func `Without a proof there is no user, whatever the request says`() throws {
        let named = try earlier(user.description)
        #expect(throws: CallerProofFault.missing) { try callers().user(of: context(nil), earlier: named) }
        #expect(try callers().userIfAny(of: context(nil), earlier: named) == nil)
        for text in ["", "nonsense"] {
            #expect(throws: CallerProofFault.malformed) { try callers().user(of: context(text), earlier: named) }
            #expect(throws: CallerProofFault.malformed) { try callers().userIfAny(of: context(text), earlier: named) }
        }
    }

    @Test func `For the time of an upgrade gateways of the version before are answered`() throws {
        let callers = callers(acceptsEarlierGateways: true)
        #expect(try callers.user(of: context(nil), earlier: earlier(user.description)) == user)
        #expect(try callers.userIfAny(of: context(nil), earlier: earlier(user.description)) == user)
        #expect(try callers.userIfAny(of: context(nil), earlier: .init()) == nil)
        // A proof counts for more than a name, and a bad one for nothing.
        #expect(try callers.user(of: context(proof(of: user)), earlier: earlier(other.description)) == user)
        #expect(throws: CallerProofFault.malformed) {
            try callers.user(of: context("x"), earlier: earlier(user.description))
        }
        for text in ["", "me", user.description.dropLast() + "g", user.description + "0"] {
            #expect(throws: CallerProofFault.missing) {
                try callers.user(of: context(nil), earlier: earlier(String(text)))
            }
        }
    }

    @Test func `Refusals say what is wrong and no more`() {
        let told = [CallerProofFault.missing, .malformed, .forged, .expired].map(\.rpcError)
        #expect(told.allSatisfy { $0.code == .unauthenticated })
        #expect(
            told.map(\.reason) == [
                "CALLER_PROOF_REQUIRED", "CALLER_PROOF_INVALID", "CALLER_PROOF_INVALID", "CALLER_PROOF_EXPIRED",
            ]
        )
    }
}
