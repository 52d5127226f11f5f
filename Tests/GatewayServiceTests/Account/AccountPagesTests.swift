import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import RPC
import SwiftProtobuf
import Synchronization
import Testing
import WebPages

@testable import GatewayService

/// What holds for all pages of a signed-in user.
struct AccountPagesTests {
    /// Every route of the pages, with something in the places of its variables.
    private static func routes(_ stage: AccountStage) throws -> [(method: HTTPRequest.Method, uri: String)] {
        let gateway = stage.stage.gateway.gateway
        let pages = try #require(gateway.signInPages)
        let parts = OpenIDParts(
            pages: pages,
            oauth: gateway.backends.oauth,
            methods: gateway.methods,
            languages: gateway.languages
        )
        return parts.pageRoutes.map { route in
            let uri = route.path.replacing("{provider}", with: "google")
                .replacing(#/\{[a-z_]+\}/#, with: AccountStage.group)
            return (route.method, uri)
        }
    }

    /// Public: the sign-in page and what its script calls, the way to an account, and where an invitation link leads.
    private static let open: Set = [
        "/sign-in", "/my", InvitationPage.joinPath, PasskeySignIn.path, PasskeySignIn.challengePath,
    ]

    /// The pages that are there without anything before.
    private static let pages = [
        "/my/account", "/my/account/deletion", "/my/profile",
        "/my/profile?request=\(OpenIDStage.sealed)&required=username",
        "/my/groups", "/my/groups/\(AccountStage.group)",
    ]

    @Test func `Without a live session every page leads to sign in, and back to itself`() async throws {
        let stage = try AccountStage()
        var count = 0
        for (method, uri) in try Self.routes(stage) where !Self.open.contains(uri) && !uri.hasSuffix("/live") {
            count += 1
            for cookie in [nil, "__Host-vestibule-session=ended", "vestibule-session=browser-token"] {
                let form = "form_value=\(PageForm.value(ofToken: "ended"))"
                let answer =
                    method == .get
                    ? try await stage.stage.get(uri, cookie: cookie)
                    : try await stage.stage.post(uri, form, cookie: cookie)
                #expect(answer.status == 303, "\(method) \(uri)")
                let location = try #require(answer.location)
                #expect(location.hasPrefix("/sign-in?to="), "\(method) \(uri) leads to \(location)")
                if method == .get {
                    #expect(location == "/sign-in?to=\(FormFields.encode(uri))", "\(uri)")
                }
            }
        }
        #expect(count > 25)
        #expect(stage.calls.isEmpty)
    }

    @Test func `A stream without a session is over`() async throws {
        let stage = try AccountStage()
        let answer = try await stage.stage.get("/my/groups/\(AccountStage.group)/live")
        #expect(answer.status == 204 && stage.calls.isEmpty)
    }

    @Test func `A bearer token opens no page`() async throws {
        let stage = try AccountStage()
        let headers: HTTPFields = [.authorization: "Bearer \(StubServices.accessToken)"]
        for (method, uri) in try Self.routes(stage) where method == .get && !Self.open.contains(uri) {
            let answer = try await stage.stage.get(uri, headers: headers)
            #expect(answer.status == 303 || answer.status == 204, "\(uri)")
        }
        #expect(stage.stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `Credentials beside the cookie are not the user's`() async throws {
        let stage = try AccountStage()
        let answer = try await stage.get("/my/account", headers: [.authorization: "Bearer stolen.access.token"])
        #expect(answer.status == 200)
    }

    @Test func `Every form is bound to its session`() async throws {
        let stage = try AccountStage()
        let other = PageForm.value(ofToken: "another-token")
        let own = AccountStage.formValue
        let secFetchSite = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let forgeries: [(form: String, headers: HTTPFields)] = [
            ("", [:]), ("form_value=", [:]), ("form_value=\(other)", [:]), ("form_value=\(own.dropLast())", [:]),
            ("form_value=\(own)&form_value=\(own)", [:]), ("form_value=\(own)", [secFetchSite: "cross-site"]),
            ("form_value=\(own)", [secFetchSite: "same-site"]), ("form_value=\(own)", [secFetchSite: "none"]),
            ("form_value=\(own)", [.origin: "https://evil.example"]),
            ("form_value=\(own)", [.origin: "http://id.example.com"]),
        ]
        for (method, uri) in try Self.routes(stage) where method == .post && !Self.open.contains(uri) {
            for (form, headers) in forgeries {
                let answer = try await stage.stage.post(uri, form, cookie: OpenIDStage.session, headers: headers)
                #expect(answer.status == 403 || answer.status == 400, "\(uri) \(form) \(headers)")
            }
            // In the query it is no form's.
            let answer = try await stage.stage.post("\(uri)?form_value=\(own)", "a=b", cookie: OpenIDStage.session)
            #expect(answer.status == 403, "\(uri)")
        }
        #expect(stage.stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `Forms of our own pages are taken, whatever the browser says of referrers`() async throws {
        let secFetchSite = try #require(HTTPField.Name("Sec-Fetch-Site"))
        for headers: HTTPFields in [
            [secFetchSite: "same-origin"], [secFetchSite: "same-origin", .origin: "null"], [.origin: "null"],
            [.origin: "https://id.example.com"],
        ] {
            let stage = try AccountStage()
            let answer = try await stage.post("/my/account/sign-out-everywhere", "which=others", headers: headers)
            #expect(answer.status == 303 && answer.location == "/my/account?notice=others")
            #expect(stage.calls == ["SignOut"])
        }
    }

    @Test func `A session that ended meanwhile leads to sign in, not in circles`() async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.identity.set { answers in
            answers.checkSession = { _, _ in
                throw RPCError.domain(.unauthenticated, reason: "SESSION_REVOKED", message: "x")
            }
        }
        let answer = try await stage.get("/my/groups")
        #expect(answer.location == "/sign-in?to=%2Fmy%2Fgroups&notice=ended")
        let page = try await stage.get(try #require(answer.location))
        #expect(page.status == 200)
        #expect(
            try page.page.elements.contains { $0.attributes["href"]?.hasPrefix("/sign-in/apple?request=page_") == true }
        )
    }

    @Test func `Pages have nothing inline, and load nothing of others`() async throws {
        let stage = try AccountStage()
        for uri in Self.pages {
            let answer = try await stage.get(uri)
            #expect(answer.status == 200, "\(uri)")
            #expect(answer.headers[.cacheControl] == "no-store")
            let live = uri == "/my/groups/\(AccountStage.group)" ? " connect-src 'self';" : ""
            #expect(
                answer.policy == "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self';\(live) "
                    + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            )
            let page = try answer.page
            #expect(page.scripts == [""])
            for element in page.elements {
                #expect(!element.attributes.keys.contains { $0 == "style" || $0.hasPrefix("on") }, "\(uri) \(element)")
            }
        }
    }

    @Test func `Every form of a page has the session's value, and every field a label`() async throws {
        let stage = try AccountStage()
        for uri in Self.pages {
            let answer = try await stage.get(uri)
            let page = try answer.page
            let forms = page.elements.count { $0.name == "form" }
            #expect(page.hiddenFields.count { $0 == ["form_value", AccountStage.formValue] } == forms, "\(uri)")
            let labels = Set(page.elements.filter { $0.name == "label" }.compactMap { $0.attributes["for"] })
            for input in page.elements where input.name == "input" && input.attributes["type"] != "hidden" {
                #expect(labels.contains(input.attributes["id"] ?? ""), "\(uri) \(input)")
            }
            #expect(page.elements.count { $0.name == "h1" } == 1 && page.elements.count { $0.name == "main" } == 1)
        }
    }

    @Test func `A failure on our side is a page that can be loaded again`() async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.oauth.set { $0.useBrowserSession = { _, _ in throw RPCError(.unavailable, "down") } }
        let answer = try await stage.get("/my/account")
        #expect(answer.status == 503 && answer.headers[.retryAfter] != nil && answer.text.hasPrefix("<!doctype html>"))
    }

    @Test(arguments: [
        "//evil.example/my/", "https://evil.example/my/", "/my/../oauth2/logout", "/my//evil.example", "\\evil", "/my",
        "/my/%2e%2e/x", "/oauth2/logout", "/my/a?b=c", "/my/a#b", "/my/é", "/My/account", "", "/my/\u{0}",
        "/my/" + String(repeating: "a", count: 125),
    ])
    func `What is no page of ours is no goal of a sign-in`(path: String) {
        #expect(ReturnPath(path) == nil)
    }

    @Test func `A goal comes through a sign-in`() throws {
        let goal = try #require(ReturnPath("/my/groups/\(AccountStage.group)"))
        #expect(ReturnPath(request: goal.request()) == goal)
        #expect(SignInCookie(state: "s", verifier: "v", request: goal.request(), provider: "apple").value != nil)
        #expect(AuthorizeRoute.continueAddress(goal.request()) == goal.path)
        #expect(ReturnPath(request: "page_L29hdXRoMi8") == nil && ReturnPath(request: OpenIDStage.sealed) == nil)
        #expect(ReturnPath(request: "page_" + "_-_-") == nil)
    }
}
