import IdentityDomain
import Models
import OutgoingHTTP
import ServiceKit

/// Authenticates our clients to a provider's endpoints.
struct ClientProof: Sendable {
    private let credentials: [String: ClientCredential]
    private let clock: WallClock

    /// The proofs of a provider's clients.
    init(_ configuration: ProviderConfiguration, clock: WallClock) {
        credentials = configuration.credentials
        self.clock = clock
    }

    /// Returns whether there is a proof for a client.
    func isThere(_ clientID: String) -> Bool { credentials[clientID] != nil }

    /// The form fields of the proof: `client_secret_post`, the only method that Apple accepts (RFC 6749 section 2.3.1). Nil for a
    /// client without proof.
    func fields(_ clientID: String) -> [OutgoingRequest.Field]? {
        switch credentials[clientID] {
        case .secret(let secret):
            return [("client_secret", secret.text)]
        case .apple(let teamID, let keyID, let key):
            let secret = try? AppleClientSecret.mint(
                clientID: clientID,
                teamID: teamID,
                keyID: keyID,
                key: key,
                nowSeconds: clock.nowSeconds
            )
            return secret.map { [("client_secret", $0)] }
        case nil:
            return nil
        }
    }
}
