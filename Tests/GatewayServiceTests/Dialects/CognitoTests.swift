import API
import HTTPTypes
import Synchronization
import Testing
import WebPages

@testable import GatewayService

/// The hosted pages of Amazon Cognito.
struct CognitoTests {
    private static let query = "client_id=app&response_type=code&redirect_uri=awscognito%3A%2F%2Fsignin%2F&state=s"

    private static func stage() throws -> OpenIDStage {
        let stage = try OpenIDStage(dialects: DialectSettings(dialects: [.cognito]))
        stage.acceptSignIns()
        return stage
    }

    @Test(arguments: [
        ("/login?\(query)", "/oauth2/authorize?\(query)"),
        ("/login?\(query)&identity_provider=SignInWithApple", "/oauth2/authorize?\(query)&idp=apple"),
        ("/login?\(query)&identity_provider=Google", "/oauth2/authorize?\(query)&idp=google"),
        ("/login?\(query)&identity_provider=COGNITO", "/oauth2/authorize?\(query)"),
        (
            "/logout?client_id=app&logout_uri=awscognito%3A%2F%2Fsignout%2F",
            "/oauth2/logout?client_id=app&post_logout_redirect_uri=awscognito%3A%2F%2Fsignout%2F"
        ),
        ("/logout?\(query)", "/oauth2/authorize?\(query)&prompt=login"), ("/logout", "/oauth2/logout"),
    ])
    func `A hosted page leads to our endpoint, with our words`(uri: String, location: String) async throws {
        let stage = try Self.stage()
        let answer = try await stage.get(uri)
        #expect(answer.status == 303 && answer.location == location)
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `The authorization endpoint knows the names of providers, too`() async throws {
        let stage = try Self.stage()
        stage.showSignIn()
        _ = try await stage.get("/oauth2/authorize?\(Self.query)&identity_provider=SignInWithApple")
        let call = try #require(stage.seen.authorized.withLock { $0.first })
        #expect(call.parameters.contains { $0.name == "idp" && $0.value == "apple" })
        #expect(!call.parameters.contains { $0.name == "identity_provider" })
    }

    @Test func `A provider posts to Cognito's path, and the cookie says which it is`() async throws {
        let stage = try Self.stage()
        let begun = try await stage.get("/sign-in/apple?request=\(OpenIDStage.sealed)")
        let call = try #require(stage.seen.begun.withLock { $0.first })
        #expect(call.redirectUri == "https://id.example.com/oauth2/idpresponse")
        let cookie = begun.cookie("__Host-vestibule-sign-in")
        let finished = try await stage.post("/oauth2/idpresponse", "state=vws1_state&id_token=t", cookie: cookie)
        #expect(finished.status == 303 && finished.cookie("__Host-vestibule-session") != nil)
        let finish = try #require(stage.seen.finished.withLock { $0.first })
        #expect(finish.provider == "apple" && finish.redirectUri == "https://id.example.com/oauth2/idpresponse")
        let foreign = try await stage.post("/oauth2/idpresponse", "state=other&id_token=t", cookie: cookie)
        #expect(foreign.status == 400 && foreign.cookies.isEmpty)
        let other = try await stage.post("/sign-in/google/callback", "state=vws1_state&id_token=t", cookie: cookie)
        #expect(other.status == 400, "another provider's path")
    }

    @Test func `A malformed query is an error page`() async throws {
        let answer = try await Self.stage().get("/login?state=%zz")
        #expect(answer.status == 400)
        _ = try answer.page
    }

    @Test func `Without the dialect none of the paths is there`() async throws {
        let stage = try OpenIDStage()
        for path in ["/login", "/logout", "/oauth2/userInfo"] {
            #expect(try await stage.get(path).status == 404, "\(path)")
        }
        #expect(try await stage.post("/oauth2/idpresponse", "state=s").status == 404)
    }
}
