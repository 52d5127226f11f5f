import Logging
import Models
import RPC
import ServiceKit
import SwiftProtobuf

/// Tells a service's methods who the person is on whose behalf they are called: the one way to know it. Immutable; any thread.
///
/// A method for a person begins with ``user(of:earlier:)``. What is for services has no person, and is kept to them by the
/// list of callers (`PeerAllowList`).
public final class ProvenCallers: Sendable {
    private let service: String
    private let keys: [CallerProofKey]
    private let acceptsEarlierGateways: Bool
    private let clock: WallClock

    /// Callers of a service.
    ///
    /// - Parameters:
    ///   - service: its name.
    ///   - keys: its keys, at least one.
    ///   - acceptsEarlierGateways: whether a call without a proof is answered for the user whom it names.
    public init(
        service: String,
        keys: [CallerProofKey],
        acceptsEarlierGateways: Bool = false,
        clock: WallClock = .system
    ) {
        self.service = service
        self.keys = keys
        self.acceptsEarlierGateways = acceptsEarlierGateways
        self.clock = clock
    }

    /// The same by another clock.
    public func reading(_ clock: WallClock) -> ProvenCallers {
        ProvenCallers(service: service, keys: keys, acceptsEarlierGateways: acceptsEarlierGateways, clock: clock)
    }

    /// Logs a warning where callers may name the user themselves.
    public func warn(_ logger: Logger) {
        guard acceptsEarlierGateways else { return }
        logger.warning(
            "whoever may call acts for anybody",
            metadata: ["setting": .string(CallerProofSettings.acceptsEarlierGateways.name)]
        )
    }

    /// The user on whose behalf a call is made.
    ///
    /// - Parameter earlier: the request's unknown fields, in which gateways of the version before name the user.
    /// - Throws: `CallerProofFault`.
    public func user(of context: ServerContext, earlier: UnknownStorage) throws(CallerProofFault) -> UserID {
        guard let user = try userIfAny(of: context, earlier: earlier) else { throw .missing }
        return user
    }

    /// As ``user(of:earlier:)``, or nil for a call that brings no proof: for what may be asked by somebody who has no account.
    public func userIfAny(of context: ServerContext, earlier: UnknownStorage) throws(CallerProofFault) -> UserID? {
        let metadata = context.metadata
        guard let text = metadata.first(CallerProofKey.metadataName) else {
            return acceptsEarlierGateways ? EarlierCaller.user(in: earlier) : nil
        }
        return try user(provenBy: text)
    }

    /// The session in which the user of a call acts, or nil where the proof names none or the call brings no proof.
    ///
    /// - Throws: `CallerProofFault`.
    public func sessionIfAny(of context: ServerContext) throws(CallerProofFault) -> SessionID? {
        guard let text = context.metadata.first(CallerProofKey.metadataName) else { return nil }
        return try proof(text).sessionID
    }

    /// The user of a proof that came in a message, where one stream is for many people.
    ///
    /// - Throws: `CallerProofFault`; `missing` for an empty text.
    public func user(proof text: String) throws(CallerProofFault) -> UserID {
        guard !text.isEmpty else { throw .missing }
        return try user(provenBy: text)
    }

    private func user(provenBy text: String) throws(CallerProofFault) -> UserID { try proof(text).userID }

    private func proof(_ text: String) throws(CallerProofFault) -> CallerProof {
        try CallerProof(text, under: keys, for: service, nowMilliseconds: clock.nowMilliseconds)
    }
}

/// The user whom gateways of the version before name in each request, in a field that is reserved since.
enum EarlierCaller {
    /// Field 1, of wire type LEN: its tag, and the length of a UUID's text.
    private static let start: [UInt8] = [0x0A, 36]

    /// The user whom the fields begin with; nil if they begin with something else.
    static func user(in fields: UnknownStorage) -> UserID? {
        let bytes = [UInt8](fields.data)
        guard bytes.starts(with: start), bytes.count >= start.count + 36 else { return nil }
        return UserID(String(decoding: bytes[start.count..<start.count + 36], as: UTF8.self))
    }
}
