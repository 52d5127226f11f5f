import API
import APIDoubles
import HTTPClients
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Testing

@testable import GatewayService

/// `GET /auth/v1/user/identities/authorize`, the provider's form, and the code that it comes to.
struct SupabaseLinkByPageTests {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let path = "/auth/v1/user/identities/authorize?provider=google&code_challenge=\(challenge)"
    private let gateway: TestGateway
    private let begun = Asked<IdentityV1.BeginWebSignInRequest>()
    private let finished = Asked<IdentityV1.FinishWebSignInRequest>()
    private let linked = Asked<IdentityV1.LinkProviderRequest>()

    init() throws {
        gateway = TestGateway(
            webSignIn: WebSignIn(
                callbackURL: "https://api.example.com/auth/apple/callback",
                appURLs: [try #require(AppURL("app://signed-in")), try #require(AppURL("https://example.com/app"))],
                withoutState: [:]
            ),
            dialects: DialectSettings(dialects: [.supabase])
        )
        let (begun, finished, linked) = (begun, finished, linked)
        gateway.stubs.identity.set { answers in
            answers.knowMaria()
            answers.beginWebSignIn = { request, _ in
                begun.add(request)
                return .with { ($0.state, $0.authorizationURL) = ("s", "https://provider.example.com/page?state=s") }
            }
            answers.finishWebSignIn = { request, _ in
                finished.add(request)
                return .with {
                    ($0.idTokenTicket, $0.codeTicket, $0.provider) = ("it", "ct", "google")
                    $0.appURL = "https://example.com/app"
                }
            }
            answers.linkProvider = { request, _ in
                linked.add(request)
                return .with {
                    ($0.account, $0.tokens, $0.callerProofs) = (Maria.account, StubServices.tokens, StubServices.proofs)
                }
            }
        }
        gateway.stubs.profile.set { $0.knowMaria() }
    }

    /// What a provider posts.
    private func post(_ form: String) async throws -> (status: Int, text: String) {
        let response = try await HandlerClient(gateway.handler).send(
            .post,
            "/auth/v1/callback",
            headers: [.contentType: "application/x-www-form-urlencoded"],
            body: Array(form.utf8)
        )
        return (response.status.code, response.text)
    }

    @Test func `The page is the provider's, for the session of the bearer token`() async throws {
        let query = "&code_challenge_method=s256&redirect_to=https%3A%2F%2Fexample.com%2Fapp&skip_http_redirect=true"
        let answer = try await gateway.sendAsUser(.get, Self.path + query)
        #expect(answer.status == 200 && answer.body == ["url": "https://provider.example.com/page?state=s"])
        let call = try #require(begun.all.first)
        #expect(call.provider == "google" && call.codeChallenge == Self.challenge)
        #expect(call.appURL == "https://example.com/app" && call.linkingAccessToken == StubServices.accessToken)
        #expect(call.redirectUri == "https://api.example.com/auth/v1/callback")
        let redirect = try await gateway.sendAsUser(.get, Self.path)
        #expect(redirect.status == 302)
        #expect(redirect.headers[.location] == "https://provider.example.com/page?state=s")
        #expect(begun.all.last?.appURL == "app://signed-in")
    }

    @Test(arguments: [
        "/auth/v1/user/identities/authorize?provider=google",
        "\(path)&code_challenge_method=plain", "\(path)&redirect_to=https%3A%2F%2Fevil.example.com%2F",
        "/auth/v1/user/identities/authorize?provider=google&code_challenge=short",
    ])
    func `Without PKCE, and to a foreign page, nothing begins`(path: String) async throws {
        let answer = try await gateway.sendAsUser(.get, path)
        #expect(answer.status == 422 && answer.body["error_code"] == "validation_failed")
        #expect(begun.all.isEmpty)
    }

    @Test func `Without a session nothing begins`() async throws {
        let answer = try await gateway.send(.get, Self.path)
        #expect(answer.status == 401 && answer.body["error_code"] == "no_authorization")
        #expect(begun.all.isEmpty)
    }

    @Test func `The provider's form leads to the app with a code, which links by the tickets`() async throws {
        let form = try await post("id_token=t&code=c&state=s")
        #expect(form.status == 200 && form.text.contains("https://example.com/app?code=google.it.ct"))
        let call = try #require(finished.all.first)
        #expect(call.provider.isEmpty && call.state == "s" && call.browserState == "s")
        #expect(call.redirectUri == "https://api.example.com/auth/v1/callback")

        let body = #"{"auth_code":"google.it.ct","code_verifier":"v"}"#
        let answer = try await gateway.send(.post, "/auth/v1/token?grant_type=pkce", body)
        #expect(answer.status == 200 && answer.body["access_token"] == "at")
        let link = try #require(linked.all.first)
        #expect(link.accessToken.isEmpty && link.opensSession)
        #expect(link.credentials.provider == "google" && link.credentials.idToken == "it")
        #expect(link.credentials.authorizationCode == "ct" && link.credentials.codeVerifier == "v")
    }

    @Test func `A code that is none, is used or isn't the app's is refused`() async throws {
        for code in ["x", "a.b", "a.b.c.d"] {
            let body = #"{"auth_code":"\#(code)","code_verifier":"v"}"#
            let answer = try await gateway.send(.post, "/auth/v1/token?grant_type=pkce", body)
            #expect(answer.status == 404 && answer.body["error_code"] == "flow_state_not_found")
        }
        #expect(linked.all.isEmpty)
        let body = #"{"auth_code":"google.it.ct","code_verifier":"v"}"#
        for (error, status, word) in [
            (RPCError.refusal("TICKET_INVALID"), 404, "flow_state_not_found"),
            (.refusal("SESSION_REVOKED"), 403, "session_not_found"),
            (.domain(.alreadyExists, reason: "IDENTITY_TAKEN", message: "m"), 422, "identity_already_exists"),
        ] {
            gateway.stubs.identity.set { $0.linkProvider = { _, _ in throw error } }
            let answer = try await gateway.send(.post, "/auth/v1/token?grant_type=pkce", body)
            #expect(answer.status == status && answer.body["error_code"] == .string(word))
        }
    }

    @Test func `A form without a sign-in, or to an app that is configured no more, leads nowhere`() async throws {
        let cancelled = try await post("error=access_denied&state=s")
        #expect(cancelled.status == 200 && !cancelled.text.contains("example.com/app") && finished.all.isEmpty)
        gateway.stubs.identity.set {
            $0.finishWebSignIn = { _, _ in .with { $0.appURL = "https://other.example.com/" } }
        }
        let gone = try await post("id_token=t&code=c&state=s")
        #expect(gone.status == 403 && !gone.text.contains("other.example.com"))
    }
}
