import DPoP
import HTTPJSON
import HTTPTypes
import RPC
import ServiceKit

/// Proofs of possession (DPoP, RFC 9449): verifies that the client of a request has the key that its tokens are bound to, and that each proof
/// is used once. Any thread.
///
/// Which URI decides which memory a proof is kept in, and a proof is good for one URI, so none is accepted by both.
final class KeyProofs: Sendable {
    /// Which requests have a memory of their own.
    enum Place: Sendable {
        /// Those whose access token was judged before: each proof in it is of a live session's key.
        case session
        /// Those that anybody may send, such as sign-ins. The limit of requests by address stands before it.
        case anyone
    }

    private let verifier: DPoPVerifier
    private let nonces: DPoPNonces
    private let address: TargetURI
    private let ofSessions: SeenProofs
    private let ofAnyone: SeenProofs
    private let now: @Sendable () -> DPoPInstant

    /// - Parameters:
    ///   - address: where clients reach the gateway: `htu` is compared with it, never with `Host`, which a client may choose.
    ///   - requiresNonce: whether a proof needs a nonce of this process.
    init(
        address: TargetURI,
        requiresNonce: Bool = true,
        ofSessions: SeenProofs = SeenProofs(),
        ofAnyone: SeenProofs = SeenProofs(),
        now: @escaping @Sendable () -> DPoPInstant = {
            DPoPInstant(
                unixSeconds: WatchClock.nowSeconds,
                monotonicSeconds: Int64(Deadline.now().nanoseconds / 1_000_000_000)
            )
        }
    ) {
        nonces = DPoPNonces()
        verifier = DPoPVerifier(nonces: nonces, requiresNonce: requiresNonce)
        self.address = address
        self.ofSessions = ofSessions
        self.ofAnyone = ofAnyone
        self.now = now
    }

    /// `DPoP-Nonce` of an answer: there is one for each request with a proof (RFC 9449 section 8.2).
    func nonceField(answering fields: RequestFields) -> (name: HTTPField.Name, value: String)? {
        guard fields.contains(.dpop) else { return nil }
        return (.dpopNonce, nonces.current(monotonicSeconds: now().monotonicSeconds))
    }

    /// The verified proof of a request; nil if it has none. The proof may have been used before: see ``use(_:in:)``.
    ///
    /// - Parameters:
    ///   - accessToken: the token that the request presents, of which the proof must have the hash.
    /// - Throws: 401 for a proof that isn't good, and for more than one.
    func proof(of caller: Caller, accessToken: String? = nil) throws(Problem) -> DPoPProof? {
        try proof(of: caller.headers, caller.target, accessToken: accessToken)
    }

    /// As ``proof(of:accessToken:)``, of a request with these fields.
    func proof(
        of fields: RequestFields,
        _ target: (method: String, path: String)?,
        accessToken: String?
    ) throws(Problem) -> DPoPProof? {
        let proofs = fields[values: .dpop]
        guard let text = proofs.first else { return nil }
        guard proofs.count == 1, let target else {
            throw Self.problem("The request must have one proof.")
        }
        let request = DPoPVerifier.Request(
            method: target.method,
            target: address.appending(target.path),
            accessToken: accessToken
        )
        do throws(DPoPError) {
            return try verifier.verify(text, of: request, now: now())
        } catch {
            throw Self.problem(error)
        }
    }

    /// Uses a proof up. Comes last, when nothing else speaks against the request.
    ///
    /// - Throws: 401 for one that was used before, 429 for a key that makes too many, 503 where there is no room.
    func use(_ proof: DPoPProof, in place: Place) throws(Problem) {
        let memory = place == .session ? ofSessions : ofAnyone
        switch memory.insert(proof, monotonicSeconds: now().monotonicSeconds) {
        case .new: return
        case .seen: throw Self.problem("The proof was used before.")
        case .keyFull:
            throw Problem(
                .tooManyRequests,
                code: "RATE_LIMITED",
                detail: "There were too many requests. Please try again later."
            ).retryingAfter(.seconds(SeenProofs.lifetimeSeconds))
        case .full:
            throw Problem(.serviceUnavailable, code: "UNAVAILABLE", detail: "There are too many requests now.")
                .retryingAfter(.seconds(1))
        }
    }
}

extension KeyProofs: MetricsSource {
    /// Adds the family.
    func write(to text: inout MetricsText) {
        text.single(
            "vestibule_gateway_dpop_proofs_kept",
            .gauge,
            help: "Proofs of possession in memory, so that each is accepted once.",
            Double(ofSessions.count + ofAnyone.count)
        )
    }
}
