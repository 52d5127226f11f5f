import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// An app's server as Apple knows it: a client with a key, that exchanges codes.
struct AppleClient {
    static let teamID = "TEAM123456"

    let clientID: String
    let keyID: String
    let key: SigningKey

    init(_ clientID: String = "com.example.app", keyID: String = "KEY1234567") throws {
        self.clientID = clientID
        self.keyID = keyID
        key = try SigningKey.generateP256(keyID: keyID)
    }

    /// The registration that the simulator takes.
    var registration: JSONObject {
        get throws {
            [
                "client_id": .string(clientID), "team_id": .string(Self.teamID), "key_id": .string(keyID),
                "public_key_pem": .string(try key.verificationKey.pem()),
            ]
        }
    }

    /// A client secret, made different by `change`.
    func secret(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims: JSONObject = [
            "iss": .string(Self.teamID), "sub": .string(clientID), "aud": "https://appleid.apple.com",
            "iat": .integer(Simulation.nowSeconds), "exp": .integer(Simulation.nowSeconds + 300),
        ]
        change(&claims)
        return try key.signedToken(claims: claims)
    }

    /// What is posted for a code.
    func exchange(_ code: String, secret: String? = nil, _ more: [(String, String)] = []) throws -> [(String, String)] {
        [
            ("client_id", clientID), ("client_secret", try secret ?? self.secret()), ("code", code),
            ("grant_type", "authorization_code"),
        ] + more
    }
}

extension Simulation {
    /// A code for a person, as the SDK of an app hands it over.
    func code(
        of provider: String = "apple",
        clientID: String = "com.example.app",
        email: String = "ana@example.com",
        _ more: String = ""
    ) async throws -> String {
        let order =
            #"{"client_id":"\#(clientID)","nonce":"n","person":{"email":"\#(email)","given_name":"Ana"}\#(more)}"#
        return try #require(try await signIn(provider, order)["authorization_code"]?.string)
    }
}
