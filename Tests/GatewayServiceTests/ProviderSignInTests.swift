import API
import APIDoubles
import HTTPTypes
import IdentityDomain
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `POST /auth/{provider}`, with all bodies that apps send.
struct ProviderSignInTests {
    /// The request that identity received, and the answer to the app.
    private static func signIn(
        _ path: String,
        _ body: String,
        headers: HTTPFields = [:],
        from address: String? = nil,
        rateLimit: RateLimit.Policy = .init()
    ) async throws -> (request: IdentityV1.SignInRequest, answer: TestGateway.Answer, gateway: TestGateway) {
        let gateway = TestGateway(rateLimit: rateLimit)
        let seen = Mutex<IdentityV1.SignInRequest?>(nil)
        gateway.stubs.identity.set { answers in
            let usual = answers.signIn
            answers.signIn = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.send(.post, path, body, headers: headers, from: address)
        return (try #require(seen.withLock { $0 }), answer, gateway)
    }

    @Test func `The demo apps' bodies are accepted`() async throws {
        let google = try await Self.signIn("/auth/google", #"{"id_token":"t","email":null,"full_name":null}"#)
        #expect(google.request == .with { ($0.provider, $0.idToken) = ("google", "t") })
        let apple = try await Self.signIn(
            "/auth/apple",
            #"{"identity_token":"vit1_a","authorization_code":"vct1_b","email":null,"full_name":"Ana Cruz"}"#
        )
        #expect(
            apple.request
                == .with {
                    ($0.provider, $0.idToken, $0.authorizationCode, $0.fullName) = (
                        "apple", "vit1_a", "vct1_b", "Ana Cruz"
                    )
                }
        )
        for answer in [google.answer, apple.answer] {
            #expect(answer.status == 200)
            #expect(answer.body["id_token"] == "it" && answer.body["access_token"] == "at")
            #expect(answer.body["refresh_token"] == "rt" && answer.body["expires_in"] == 900)
        }
    }

    @Test func `Every member is passed to identity`() async throws {
        let (request, answer, _) = try await Self.signIn(
            "/auth/keycloak",
            #"""
            {"id_token":"t","nonce":"n","authorization_code":"c","client_id":"i","redirect_uri":"r","code_verifier":"v",
             "access_token":"a","full_name":"f","email":"e","device_name":"d","create":false}
            """#
        )
        #expect(answer.status == 200)
        #expect(
            request
                == .with {
                    ($0.provider, $0.idToken, $0.nonce, $0.authorizationCode) = ("keycloak", "t", "n", "c")
                    ($0.clientID, $0.redirectUri, $0.codeVerifier, $0.accessToken) = ("i", "r", "v", "a")
                    ($0.fullName, $0.email, $0.deviceName, $0.create) = ("f", "e", "d", false)
                }
        )
    }

    @Test(arguments: [
        #"{"authorization_code":"c","client_id":"com.example.app"}"#, #"{"access_token":"a","client_id":"1234567890"}"#,
        #"{"identity_token":"t"}"#, #"{"id_token":"t","identity_token":"t","create":null}"#,
    ])
    func `One credential is enough, by either name`(body: String) async throws {
        for path in ["/auth/apple", "/auth/google", "/auth/facebook"] {
            let (request, answer, _) = try await Self.signIn(path, body)
            #expect(answer.status == 200)
            #expect(path.hasSuffix(request.provider))
            #expect(!request.hasCreate)
        }
    }

    @Test func `A path's own name for the ID token takes precedence`() async throws {
        let body = #"{"id_token":"i","identity_token":"a"}"#
        #expect(try await Self.signIn("/auth/apple", body).request.idToken == "a")
        #expect(try await Self.signIn("/auth/google", body).request.idToken == "i")
    }

    @Test(arguments: ["apple", "google", "myspace"])
    func `A provider that is not configured has no route`(provider: String) async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set {
            $0.signIn = { _, _ in
                throw RPCError.domain(
                    .notFound,
                    reason: "PROVIDER_UNKNOWN",
                    message: "No provider of this name is configured."
                )
            }
        }
        let answer = try await gateway.send(.post, "/auth/\(provider)", #"{"id_token":"t"}"#)
        #expect(answer.status == 404 && answer.code == "PROVIDER_UNKNOWN")
        #expect(answer.fields.isEmpty)
    }

    @Test func `With create set to false a new person gets no account`() async throws {
        let gateway = TestGateway()
        gateway.stubs.identity.set {
            $0.signIn = { request, _ in
                #expect(request.hasCreate && !request.create)
                throw RPCError.domain(.notFound, reason: "ACCOUNT_NOT_FOUND", message: "There is no such account.")
            }
        }
        let answer = try await gateway.send(.post, "/auth/google", #"{"id_token":"t","create":false}"#)
        #expect(answer.status == 404 && answer.code == "ACCOUNT_NOT_FOUND")
    }

    @Test func `Reserved words are not providers`() async throws {
        let gateway = TestGateway()
        #expect(try await gateway.send(.post, "/auth/refresh", #"{"refresh_token":"r"}"#).status == 200)
        #expect(try await gateway.send(.post, "/auth/sign-out", #"{"refresh_token":"r"}"#).status == 204)
        #expect(gateway.stubs.calls == ["Refresh", "GetProfile", "SignOut"])
        for path in ["/auth/refresh", "/auth/apple", "/auth/anybody"] {
            let answer = try await gateway.send(.get, path)
            #expect(answer.status == 405)
            #expect(answer.headers[.allow] == "POST")
        }
        #expect(try await gateway.send(.post, "/auth/apple/more", "{}").code == "ROUTE_NOT_FOUND")
    }

    @Test func `No provider can have a reserved name`() throws {
        let appURL = try #require(AppURL("com.acme.app://signed-in"))
        let gateway = TestGateway(
            webSignIn: WebSignIn(
                callbackURL: "https://acme.org/auth/apple/callback",
                appURLs: [appURL],
                withoutState: [:]
            ),
            dialects: DialectSettings(dialects: Set(Dialect.allCases), supabaseServiceKey: nil),
            introspectionClients: try IntrospectionClients(Secret("app:\(String(repeating: "0", count: 64))"))
        )
        let words = gateway.gateway.endpoints.map(\.operation.path).filter { $0.hasPrefix("/auth/") }
            .compactMap { $0.split(separator: "/").dropFirst().first.map(String.init) }
        let providers: Set = ["{provider}", ProviderName.apple.value, ProviderName.google.value]
        #expect(Set(words).subtracting(providers) == ProviderName.reserved)
    }

    @Test func `Identity gets the client's address`() async throws {
        let proxies = RateLimit.Policy(trustedProxies: [try #require(IPNetwork("127.0.0.0/8"))])
        let (_, answer, gateway) = try await Self.signIn(
            "/auth/google",
            #"{"id_token":"t"}"#,
            headers: [.init("X-Forwarded-For")!: "203.0.113.9"],
            from: "127.0.0.1:4711",
            rateLimit: proxies
        )
        #expect(answer.status == 200)
        #expect(gateway.stubs.clientAddresses.first == "SignIn 203.0.113.9")
    }

    @Test func `Every provider's sign-ins count for an address's limit`() async throws {
        let gateway = TestGateway(rateLimit: .init(auth: RequestRate(perSecond: 0.01, burst: 2)))
        for path in ["/auth/google", "/auth/anybody"] {
            #expect(try await gateway.send(.post, path, #"{"id_token":"t"}"#).status == 200)
        }
        #expect(try await gateway.send(.post, "/auth/somebody", #"{"id_token":"t"}"#).status == 429)
    }
}
