import API
import IdentityDomain
import JOSE
import KeyRings
import RPC

extension IdentityMethods {
    /// For how long the key set may be cached: a new key is published this long before it signs.
    static let keySetMaxAgeSeconds = KeyKind.keySetMaxAgeSeconds

    /// Returns the public keys that verify our tokens.
    func getJWKS(
        _ request: IdentityV1.GetJWKSRequest,
        context: ServerContext
    ) async throws -> IdentityV1.GetJWKSResponse {
        var response = IdentityV1.GetJWKSResponse()
        let issuer = issuer
        response.jwksJson = issuer.keySet.json.text
        response.maxAgeSeconds = Self.keySetMaxAgeSeconds
        response.issuer = issuer.issuer
        return response
    }
}
