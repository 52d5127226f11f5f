import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels

/// Makes the proofs by which gateways act for a person at identity itself and at other services. Immutable; any thread.
struct CallerProofMint: Sendable {
    /// The services that take proofs.
    static let services = (identity: "identity", profile: "profile", invites: "invites")

    private let identity: CallerProofKey
    private let profile: CallerProofKey
    private let invites: CallerProofKey

    /// Proofs under the keys of a master key of `CallerProofKey.byteCount` bytes; nil for another count.
    init?(master: [UInt8]) {
        guard let identity = CallerProofKey(master: master, service: Self.services.identity),
            let profile = CallerProofKey(master: master, service: Self.services.profile),
            let invites = CallerProofKey(master: master, service: Self.services.invites)
        else { return nil }
        (self.identity, self.profile, self.invites) = (identity, profile, invites)
    }

    /// The id of the key that makes proofs, which is in each proof and no secret.
    var keyID: [UInt8] { identity.id }

    /// A person's proofs, one for each service.
    ///
    /// - Parameters:
    ///   - sessionID: nil for somebody who has shown credentials and has no session yet.
    ///   - isGuest: whether the person is a guest.
    func proofs(
        of userID: UserID,
        in sessionID: SessionID? = nil,
        isGuest: Bool = false,
        nowMilliseconds: Int64
    ) -> IdentityV1.CallerProofs {
        let minute = CallerProof.minute(madeAtMilliseconds: nowMilliseconds)
        let proof = CallerProof(userID: userID, sessionID: sessionID, isGuest: isGuest, minute: minute)
        var proofs = IdentityV1.CallerProofs()
        proofs.identity = proof.text(under: identity, for: Self.services.identity)
        proofs.profile = proof.text(under: profile, for: Self.services.profile)
        proofs.invites = proof.text(under: invites, for: Self.services.invites)
        return proofs
    }
}

/// What makes and checks proofs of callers, from identity's master keys.
struct CallerProofParts: Sendable {
    let mint: CallerProofMint
    let callers: ProvenCallers

    /// Parts from master keys, the one that makes proofs first; nil unless there is one and each has as many bytes as it must.
    init?(masters: [[UInt8]]) {
        let service = CallerProofMint.services.identity
        let own = masters.compactMap { CallerProofKey(master: $0, service: service) }
        guard let first = masters.first, let mint = CallerProofMint(master: first), own.count == masters.count else {
            return nil
        }
        self.mint = mint
        callers = ProvenCallers(service: service, keys: own)
    }
}

extension IdentityMethods {
    /// The proofs of who has just opened or continued a session; nil if the caller is no gateway.
    func callerProofs(of session: StoredSession, for context: ServerContext) -> IdentityV1.CallerProofs? {
        guard gateways.believes(context.peer.certificateNames) else { return nil }
        return ownKeys.current.proofs.proofs(
            of: session.facts.userID,
            in: session.facts.sessionID,
            isGuest: session.facts.isGuest,
            nowMilliseconds: clock.nowMilliseconds
        )
    }
}
