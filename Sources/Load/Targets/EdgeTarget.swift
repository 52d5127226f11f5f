import JOSE

/// Calls the gateway's JSON API, like phones.
struct EdgeTarget: Target {
    let client: JSONClient

    var needsProofs: Bool { false }

    func checkSession(_ account: Account) async throws(CallFailure) -> ProfileProof? {
        _ = try await client.send("GET", "/me", accessToken: account.accessToken)
        return nil
    }

    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens {
        try SessionTokens(
            try await client.send("POST", "/auth/refresh", body: ["refresh_token": .string(refreshToken)])
        )
    }

    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens {
        var body: JSONObject = ["id_token": .string(proof.idToken), "nonce": .string(proof.nonce)]
        if let code = proof.authorizationCode { body["authorization_code"] = .string(code) }
        return try SessionTokens(try await client.send("POST", "/auth/google", body: body))
    }

    func getProfile(_ account: Account) async throws(CallFailure) {
        _ = try await client.send("GET", "/me", accessToken: account.accessToken)
    }

    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure) {
        var body: JSONObject = ["display_name": .string(name)]
        if let phone { body["phone_number"] = .string(phone) }
        _ = try await client.send("PATCH", "/me", accessToken: account.accessToken, body: body)
    }
}

extension SessionTokens {
    fileprivate init(_ json: JSONObject) throws(CallFailure) {
        self.init(
            accessToken: try json.text("access_token"),
            refreshToken: try json.text("refresh_token"),
            profileProof: nil
        )
    }
}
