import API
import IdentityDomain
import JOSE
import Models
import RPCTransport
import ServiceModels

/// A token that was verified, and what CheckSession answers to it.
///
/// All of that but the session's proof is the same each time, and the proofs of its owner to other services are for a minute:
/// so that a token that is seen again costs no signature, no code and no text. Belongs to one loop.
final class VerifiedToken<Claims> {
    /// What it says.
    let claims: Claims
    /// The answer, without proofs of the caller.
    let response: IdentityV1.CheckSessionResponse
    private let userID: UserID
    private let sessionID: SessionID
    private let isGuest: Bool
    private var minute: UInt32 = 0
    private var proofs = IdentityV1.CallerProofs()

    init(
        _ claims: Claims,
        userID: UserID,
        sessionID: SessionID,
        expiresAtSeconds: Int64,
        scope: String? = nil,
        isGuest: Bool = false,
        key: JWKThumbprint? = nil
    ) {
        self.isGuest = isGuest
        self.claims = claims
        self.userID = userID
        self.sessionID = sessionID
        var response = IdentityV1.CheckSessionResponse()
        response.userID = userID.description
        response.sessionID = sessionID.description
        response.expiresAtSeconds = expiresAtSeconds
        response.scope = scope ?? ""
        if let key { response.keyThumbprint = .init(key.bytes) }
        self.response = response
    }

    /// The owner's proofs of this minute.
    ///
    /// - Parameter mint: makes them where they are not known yet. Proofs of keys that were replaced are not known: the token
    ///   itself isn't any more (``VerifiedTokens/token(_:generation:of:)``).
    func callerProofs(
        by mint: @autoclosure () -> CallerProofMint,
        nowMilliseconds: Int64
    ) -> IdentityV1.CallerProofs {
        let now = CallerProof.minute(madeAtMilliseconds: nowMilliseconds)
        if now != minute {
            proofs = mint().proofs(of: userID, in: sessionID, isGuest: isGuest, nowMilliseconds: nowMilliseconds)
            minute = now
        }
        return proofs
    }
}

/// Each loop's tokens that were verified lately. Nothing is shared between loops.
struct VerifiedTokens: Sendable {
    /// Tokens of each kind in each of a loop's two generations: about 6 MB a loop when full.
    static let capacity = 2_048

    /// A class, so that a change happens in place and not on a copy.
    private final class Box {
        /// That of the keys by which what is in it was verified.
        var generation = 0
        var access = VerifiedTokenCache<VerifiedToken<AccessClaims>>(capacity: VerifiedTokens.capacity)
        var single = VerifiedTokenCache<VerifiedToken<SingleClaims>>(capacity: VerifiedTokens.capacity)

        /// Forgets what was verified by keys of another generation, and with it the proofs that they made: they may be gone.
        func keep(_ generation: Int) {
            guard self.generation != generation else { return }
            access = VerifiedTokenCache(capacity: VerifiedTokens.capacity)
            single = VerifiedTokenCache(capacity: VerifiedTokens.capacity)
            self.generation = generation
        }
    }

    private let group: EventLoopGroup
    private let boxes: [LoopBound<Box>]

    init(group: EventLoopGroup) {
        self.group = group
        boxes = group.loops.map { LoopBound(Box(), loop: $0) }
    }

    /// An access token of ours, expired or not; the signature is checked unless this loop has seen the token before. Off the
    /// group's loops it is always checked. What is given must stay on the loop.
    ///
    /// - Parameters:
    ///   - generation: that of our keys, read before `issuer`.
    ///   - issuer: verifies what this loop has not seen.
    func token(
        _ text: String,
        generation: Int,
        of issuer: @autoclosure () -> TokenIssuer
    ) throws(IdentityError) -> VerifiedToken<AccessClaims> {
        let box = box(generation)
        if let known = box?.access.value(of: text) { return known }
        let claims = try issuer().verifiedAccessClaims(text)
        let token = VerifiedToken(
            claims,
            userID: claims.userID,
            sessionID: claims.sessionID,
            expiresAtSeconds: claims.expiresAtSeconds,
            scope: claims.scope,
            isGuest: claims.isGuest,
            key: claims.key
        )
        box?.access.insert(token, for: text)
        return token
    }

    /// As ``token(_:generation:of:)``, a single token.
    func singleToken(
        _ text: String,
        generation: Int,
        of singleTokens: @autoclosure () -> SingleTokens
    ) throws(IdentityError) -> VerifiedToken<SingleClaims> {
        let box = box(generation)
        if let known = box?.single.value(of: text) { return known }
        let claims = try singleTokens().verifiedClaims(text)
        let token = VerifiedToken(
            claims,
            userID: claims.userID,
            sessionID: claims.sessionID,
            expiresAtSeconds: claims.expiresAtSeconds
        )
        box?.single.insert(token, for: text)
        return token
    }

    /// The current loop's, with what keys of this generation verified; nil off the group's loops.
    private func box(_ generation: Int) -> Box? {
        guard let loop = EventLoop.current, group.contains(loop) else { return nil }
        let box = boxes[loop.index].value
        box.keep(generation)
        return box
    }
}
