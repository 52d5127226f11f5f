import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import Testing

@testable import IdentityService

extension TestProvider {
    /// Providers with audiences of each kind: by nonce, by fresh token, by code, one with long access tokens, and one without ID
    /// tokens.
    static func kindsOfAudiences() throws -> [ProviderConfiguration] {
        let apple = try ProviderPolicy(
            name: .apple,
            issuers: ["https://appleid.apple.com"],
            audiences: [
                AudiencePolicy(id: "com.example.app", match: .sha256),
                AudiencePolicy(id: "com.example.bare", match: .sha256, nonce: .optional, withoutNonce: .fresh),
                AudiencePolicy(id: "com.example.coded", match: .sha256, nonce: .optional, withoutNonce: .code),
                AudiencePolicy(id: "com.example.long", match: .sha256, accessTokenSeconds: 3_600),
                AudiencePolicy(id: "com.example.plain", match: .sha256, hasIDToken: false),
            ],
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/apple"
        )
        let google = try ProviderPolicy(
            name: .google,
            issuers: ["https://accounts.google.com"],
            audiences: [AudiencePolicy(id: "example.apps.googleusercontent.com", kind: .web, match: .either)],
            algorithms: [.es256],
            keysURL: "http://127.0.0.1:1/google"
        )
        return [ProviderConfiguration(policy: apple), ProviderConfiguration(policy: google)]
    }

    /// A token without nonce, as many SDKs make it.
    func bareToken(
        _ audience: String = "com.example.bare",
        subject: String = "001.person",
        at clock: TestClock,
        _ changes: [String: JSONValue?] = [:]
    ) throws -> String {
        var all: [String: JSONValue?] = [
            "aud": .string(audience), "nonce": nil as JSONValue?, "c_hash": nil as JSONValue?,
        ]
        for (name, value) in changes { all[name] = value }
        return try appleToken(subject: subject, at: clock, all)
    }
}

extension TestService {
    /// Runs with audiences of each kind.
    static func runWithAudiences(
        limits: SessionLimits = SessionLimits(),
        unprovenDialects: Set<String> = [],
        _ body: (TestService) async throws -> Void
    ) async throws {
        try await run(
            limits: limits,
            unprovenDialects: unprovenDialects,
            providers: TestProvider.kindsOfAudiences(),
            body
        )
    }

    /// Signs in with a request that is made by hand.
    @discardableResult
    func signIn(
        clientAddress: String? = nil,
        _ make: (inout IdentityV1.SignInRequest) throws -> Void
    ) async throws -> IdentityV1.SignInResponse {
        var request = IdentityV1.SignInRequest()
        request.provider = "apple"
        try make(&request)
        var options = CallOptions()
        if let clientAddress { options.metadata.add("vestibule-client-address", clientAddress) }
        return try await client.signIn(request, options: options)
    }

    func findAccount(
        _ make: (inout IdentityV1.SignInRequest) throws -> Void
    ) async throws -> IdentityV1.FindAccountResponse {
        var request = IdentityV1.FindAccountRequest()
        request.credentials.provider = "apple"
        try make(&request.credentials)
        return try await client.findAccount(request)
    }

    /// What our ID token says.
    func claims(ofIDToken text: String) throws -> JSONObject {
        try CompactJWS(parsing: text).verifiedPayload(
            with: #require(settings.issuer.keySet.key(id: CompactJWS(parsing: text).keyID ?? "", algorithm: .es256))
        ).withUnsafeBufferPointer { try JSONObject(parsing: Array($0)) }
    }

    /// One value of one row.
    func value<Value: PostgresDecodable>(_ query: Query, as type: Value.Type = Value.self) async throws -> Value {
        try #require(try await database.query(query).first).decode(0, as: Value.self)
    }
}
