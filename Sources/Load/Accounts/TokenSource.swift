import JOSE

/// The source of a provider's ID tokens.
protocol TokenSource: Sendable {
    /// A new token for a user, with a new nonce.
    func proof(email: String) async throws(CallFailure) -> ProviderProof
}

/// Asks the provider simulator for ID tokens.
struct SimulatorTokens: TokenSource {
    let simulator: JSONClient
    let clientID: String
    /// Whether the authorization code is returned too.
    let sendsCodes: Bool

    func proof(email: String) async throws(CallFailure) -> ProviderProof {
        let nonce = Hex.encode(SecureRandom.bytes(16))
        let answer = try await simulator.send(
            "POST",
            "/control/google/sign-in",
            body: [
                "client_id": .string(clientID), "nonce": .string(Hex.encode(SHA256.hash(nonce))),
                "person": ["email": .string(email), "given_name": "Load", "family_name": "Generator"],
            ]
        )
        return ProviderProof(
            idToken: try answer.text("id_token"),
            nonce: nonce,
            authorizationCode: sendsCodes ? try answer.text("authorization_code") : nil
        )
    }
}
