import HTTPClients
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// What a phone gets from the providers.
struct SignInTests {
    private static let maria = #"{"email":"Maria@example.com","given_name":"Maria","family_name":"Santos"}"#

    private static func order(_ more: String = "", nonce: String = #""nonce":"abc","#, person: String = maria) -> String
    {
        #"{"client_id":"com.example.app",\#(nonce)"person":\#(person)\#(more)}"#
    }

    @Test func `Apple's token verifies and says what Apple's say`() async throws {
        let simulation = try Simulation()
        let answer = try await simulation.signIn("apple", Self.order())
        let claims = try await simulation.verifiedClaims(answer["identity_token"]?.string, "apple")
        let code = try #require(answer["authorization_code"]?.string)
        #expect(claims["iss"] == "https://appleid.apple.com")
        #expect(claims["aud"] == "com.example.app")
        #expect(claims["iat"] == .integer(Simulation.nowSeconds))
        #expect(claims["exp"] == .integer(Simulation.nowSeconds + 86_400))
        #expect(claims["auth_time"] == .integer(Simulation.nowSeconds))
        #expect(claims["nonce"] == "abc")
        #expect(claims["nonce_supported"] == true)
        #expect(claims["email"] == "Maria@example.com")
        #expect(claims["email_verified"] == true)
        #expect(claims["is_private_email"] == nil)
        #expect(claims["real_user_status"] == 2)
        #expect(claims["c_hash"] == .string(Base64URL.encode(SHA256.hash(code).prefix(16))))
        #expect(["name", "given_name", "family_name"].allSatisfy { claims[$0] == nil })
        #expect(
            answer["user"] == ["name": ["firstName": "Maria", "lastName": "Santos"], "email": "Maria@example.com"]
        )
        let header = try CompactJWS(parsing: try #require(answer["identity_token"]?.string))
        #expect(header.algorithm == .rs256)
        #expect(header.type == nil)
    }

    @Test func `Apple tells the name to each client once`() async throws {
        let simulation = try Simulation()
        #expect(try await simulation.signIn("apple", Self.order())["user"] != nil)
        let second = try await simulation.signIn("apple", Self.order())
        #expect(second["user"] == nil)
        let claims = try await simulation.verifiedClaims(second["identity_token"]?.string, "apple")
        #expect(claims["real_user_status"] == nil)
        #expect(claims["email"] == "Maria@example.com")
        let other = Self.order().replacing("com.example.app", with: "com.example.web")
        #expect(try await simulation.signIn("apple", other)["user"] != nil)
        let someone = Self.order(person: #"{"sub":"someone","given_name":"Ana"}"#)
        #expect(try await simulation.signIn("apple", someone)["user"] == ["name": ["firstName": "Ana"]])
    }

    @Test func `Every code is new`() async throws {
        let simulation = try Simulation()
        let first = try await simulation.signIn("apple", Self.order())["authorization_code"]?.string
        let second = try await simulation.signIn("apple", Self.order())["authorization_code"]?.string
        #expect(first != nil && second != nil && first != second)
    }

    @Test func `Google's token verifies and says what Google's say`() async throws {
        let simulation = try Simulation()
        let answer = try await simulation.signIn("google", Self.order())
        #expect(answer.members.map(\.name) == ["id_token", "authorization_code", "access_token"])
        let claims = try await simulation.verifiedClaims(answer["id_token"]?.string, "google")
        #expect(claims["iss"] == "https://accounts.google.com")
        #expect(claims["aud"] == "com.example.app")
        #expect(claims["azp"] == "com.example.app")
        #expect(claims["exp"] == .integer(Simulation.nowSeconds + 3600))
        #expect(claims["nonce"] == "abc")
        #expect(claims["email_verified"] == true)
        #expect(claims["name"] == "Maria Santos")
        #expect(claims["given_name"] == "Maria")
        #expect(claims["family_name"] == "Santos")
        #expect(claims["at_hash"] == nil)
        #expect(try CompactJWS(parsing: try #require(answer["id_token"]?.string)).type == "JWT")
    }

    @Test func `A person is the same subject each time`() async throws {
        let simulation = try Simulation()
        var subjects: [String] = []
        for email in ["maria@example.com", "MARIA@example.com", "ana@example.com"] {
            for (provider, field) in [("apple", "identity_token"), ("google", "id_token")] {
                let answer = try await simulation.signIn(provider, Self.order(person: #"{"email":"\#(email)"}"#))
                subjects.append(try #require(Simulation.unverifiedClaims(answer[field]?.string)["sub"]?.string))
            }
        }
        #expect(subjects[0] == subjects[2] && subjects[1] == subjects[3])
        #expect(Set(subjects).count == 4)
        #expect(subjects[0].wholeMatch(of: /[0-9]{6}\.[0-9a-f]{32}\.[0-9]{4}/) != nil)
        #expect(subjects[1].wholeMatch(of: /1[0-9]{20}/) != nil)
        let given = try await simulation.signIn("google", Self.order(person: #"{"sub":"s-1","email":"a@example.com"}"#))
        #expect(try Simulation.unverifiedClaims(given["id_token"]?.string)["sub"] == "s-1")
    }

    @Test func `A hidden address is a relay`() async throws {
        let simulation = try Simulation()
        let person = #"{"email":"m@example.com","hide_email":true}"#
        let answer = try await simulation.signIn("apple", Self.order(person: person))
        let claims = try Simulation.unverifiedClaims(answer["identity_token"]?.string)
        let relay = try #require(claims["email"]?.string)
        #expect(relay.hasSuffix("@privaterelay.appleid.com"))
        #expect(claims["is_private_email"] == true)
        #expect(answer["user"]?.object?["email"]?.string == relay)
        let again = try await simulation.signIn("apple", Self.order(person: person))
        #expect(try Simulation.unverifiedClaims(again["identity_token"]?.string)["email"]?.string == relay)
    }

    @Test(arguments: ["", #""nonce":null,"#])
    func `Without a nonce there is no claim`(nonce: String) async throws {
        let simulation = try Simulation()
        for (provider, field) in [("apple", "identity_token"), ("google", "id_token"), ("facebook", "id_token")] {
            let answer = try await simulation.signIn(provider, Self.order(nonce: nonce))
            #expect(try Simulation.unverifiedClaims(answer[field]?.string)["nonce"] == nil)
        }
    }

    @Test func `Google's SDK for iOS puts a nonce of its own into the token`() async throws {
        let simulation = try Simulation()
        var nonces: Set<String> = []
        for _ in 1...2 {
            let answer = try await simulation.signIn("google", Self.order(#","sdk":"ios""#, nonce: ""))
            let claims = try await simulation.verifiedClaims(answer["id_token"]?.string, "google")
            nonces.insert(try #require(claims["nonce"]?.string))
            let access = try #require(answer["access_token"]?.string)
            #expect(claims["at_hash"]?.string == Base64URL.encode(SHA256.hash(access).prefix(16)))
        }
        #expect(nonces.count == 2 && nonces.allSatisfy { $0.utf8.count == 43 })
        let (response, problem) = try await simulation.send(
            .post,
            "/control/google/sign-in",
            Self.order(#","sdk":"ios""#)
        )
        #expect(response.status == .badRequest)
        #expect(problem["fields"]?.array?.first?.object?["field"] == "nonce")
    }

    @Test func `Facebook's token of Limited Login verifies, and a classic access token is beside it`() async throws {
        let simulation = try Simulation()
        let answer = try await simulation.signIn("facebook", Self.order())
        let claims = try await simulation.verifiedClaims(answer["id_token"]?.string, "facebook")
        #expect(claims["iss"] == "https://www.facebook.com")
        #expect(claims["aud"] == "com.example.app")
        #expect(claims["nonce"] == "abc")
        #expect(claims["name"] == "Maria Santos")
        #expect(claims["email"] == "Maria@example.com")
        #expect(claims["email_verified"] == nil)
        #expect(claims["jti"]?.string?.isEmpty == false)
        #expect(claims["sub"]?.string?.wholeMatch(of: /1[0-9]{15}/) != nil)
        #expect(answer["access_token"]?.string?.hasPrefix("EAA") == true)
    }

    @Test(arguments: [
        (#"{"person":{"sub":"a"}}"#, ["client_id"]), (#"{"client_id":"a"}"#, ["person", "person.sub"]),
        (#"{"client_id":"a","person":{}}"#, ["person.sub"]),
        (#"{"client_id":"a","person":{"sub":"é"}}"#, ["person.sub"]),
        (#"{"client_id":1,"nonce":2,"person":[]}"#, ["client_id", "nonce", "person", "person.sub"]),
        (#"{"client_id":"a","person":{"sub":"a"},"overrides":{"algorithm":"ES256"}}"#, ["overrides.algorithm"]),
        (#"{"client_id":"a","person":{"sub":"a"},"overrides":{"signing_key":"mine"}}"#, ["overrides.signing_key"]),
        (
            #"{"client_id":"a","person":{"sub":"a"},"exchange_overrides":{"signing_key":"m"}}"#,
            ["exchange_overrides.signing_key"]
        ),
        (#"{"client_id":"a","person":{"sub":"a"},"sdk":"ios"}"#, ["sdk"]),
        (#"{"client_id":"a","person":{"sub":"a"},"code_challenge":"short"}"#, ["code_challenge"]),
    ])
    func `A bad order names its fields`(body: String, fields: [String]) async throws {
        let (response, answer) = try await Simulation().send(.post, "/control/apple/sign-in", body)
        #expect(response.status == .badRequest)
        #expect(answer["fields"]?.array?.compactMap { $0.object?["field"]?.string } == fields)
    }
}
