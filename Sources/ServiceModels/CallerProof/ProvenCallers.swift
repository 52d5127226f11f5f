import Models
import RPC
import ServiceKit

/// The user on whose behalf a service's method is called, by the proof that the call brings. Immutable; any thread.
///
/// A method for a user begins with ``user(of:)``. A method for services has no user, and the list of callers (`PeerAllowList`) keeps
/// it to them.
public final class ProvenCallers: Sendable {
    private let service: String
    private let keys: [CallerProofKey]
    private let clock: WallClock

    /// Callers of a service.
    ///
    /// - Parameters:
    ///   - service: its name.
    ///   - keys: its keys, at least one.
    public init(service: String, keys: [CallerProofKey], clock: WallClock = .system) {
        self.service = service
        self.keys = keys
        self.clock = clock
    }

    /// The same by another clock.
    public func reading(_ clock: WallClock) -> ProvenCallers {
        ProvenCallers(service: service, keys: keys, clock: clock)
    }

    /// The user on whose behalf a call is made.
    ///
    /// - Throws: `CallerProofError`.
    public func user(of context: ServerContext) throws(CallerProofError) -> UserID {
        guard let user = try userIfAny(of: context) else { throw .missing }
        return user
    }

    /// As ``user(of:)``, for a method that guests may not call.
    ///
    /// - Throws: `CallerProofError`; `guest` for a guest.
    public func fullUser(of context: ServerContext) throws(CallerProofError) -> UserID {
        let (userID, isGuest) = try userOrGuest(of: context)
        if isGuest { throw .guest }
        return userID
    }

    /// As ``user(of:)``, and whether the user is a guest.
    ///
    /// - Throws: `CallerProofError`.
    public func userOrGuest(of context: ServerContext) throws(CallerProofError) -> (userID: UserID, isGuest: Bool) {
        guard let text = context.metadata.first(CallerProofKey.metadataName) else { throw .missing }
        let proof = try proof(text)
        return (proof.userID, proof.isGuest)
    }

    /// As ``user(of:)``, or nil for a call that brings no proof: for methods that a client without an account may call.
    public func userIfAny(of context: ServerContext) throws(CallerProofError) -> UserID? {
        guard let text = context.metadata.first(CallerProofKey.metadataName) else { return nil }
        return try proof(text).userID
    }

    /// The session in which the user of a call acts, or nil where the proof names none or the call brings no proof.
    ///
    /// - Throws: `CallerProofError`.
    public func sessionIfAny(of context: ServerContext) throws(CallerProofError) -> SessionID? {
        guard let text = context.metadata.first(CallerProofKey.metadataName) else { return nil }
        return try proof(text).sessionID
    }

    /// The user of a proof that came in a message, where one stream is for many people.
    ///
    /// - Throws: `CallerProofError`; `missing` for an empty text.
    public func user(proof text: String) throws(CallerProofError) -> UserID {
        guard !text.isEmpty else { throw .missing }
        return try proof(text).userID
    }

    private func proof(_ text: String) throws(CallerProofError) -> CallerProof {
        try CallerProof(text, under: keys, for: service, nowMilliseconds: clock.nowMilliseconds)
    }
}
