import API
import DPoP
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import ServiceKit

/// An access token as a request presents it.
struct PresentedToken: Sendable {
    /// The token.
    let text: String
    /// The request's verified proof, where the token comes by the scheme DPoP (RFC 9449 section 7.1); nil for a bearer token.
    let proof: DPoPProof?
    /// The key of the proof.
    var key: JWKThumbprint? { proof?.thumbprint }

    /// Throws unless the token is bound to the proof's key, or to none and comes as a bearer token.
    ///
    /// - Parameter boundTo: the thumbprint of the token's key; empty for none.
    func check(boundTo key: some Collection<UInt8>) throws(Problem) {
        if let proof {
            // RFC 9449 section 7.1: by this scheme, a token must be bound.
            guard !key.isEmpty else { throw Self.unbound }
            guard ConstantTime.areEqual(Array(key), proof.thumbprint.bytes) else {
                throw KeyProofs.required
            }
        } else if !key.isEmpty {
            throw KeyProofs.required
        }
    }

    private static let unbound = Problem(
        .unauthorized,
        code: "ACCESS_TOKEN_INVALID",
        detail: "The access token is bound to no key: its scheme is Bearer.",
        headers: [.wwwAuthenticate: KeyProofs.challenge("invalid_token")]
    )
}

extension CallOptions {
    /// The same for a call on behalf of a client that has proven possession of a key; identity believes it of gateways.
    func naming(_ key: JWKThumbprint?) -> CallOptions {
        guard let key else { return self }
        var options = self
        options.metadata.add(KeyMetadata.name, key.text)
        return options
    }
}
