import API
import APIDoubles
import HTTPTypes
import RPC
import SwiftProtobuf
import Synchronization
import Testing
import WebPages

@testable import GatewayService

/// Signing out of the browser's session.
struct EndBrowserSessionTests {
    private static let path = "/oauth2/logout"
    private static let cleared = "__Host-vestibule-session=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"

    /// A gateway whose identity asks for confirmation until there is one.
    private static func stage(needsConfirmation: Bool, redirectURI: String = "") throws -> OpenIDStage {
        let stage = try OpenIDStage()
        let seen = stage.seen
        stage.gateway.stubs.oauth.set { answers in
            answers.endBrowserSession = { request, _ in
                seen.ended.withLock { $0.append(request) }
                return .with {
                    $0.needsConfirmation = needsConfirmation && !request.isConfirmed
                    ($0.redirectUri, $0.state) = (redirectURI, redirectURI.isEmpty ? "" : "a b")
                }
            }
        }
        return stage
    }

    @Test func `A request that proves its user signs out at once`() async throws {
        let stage = try Self.stage(needsConfirmation: false, redirectURI: "https://app.example/bye?x=1")
        let answer = try await stage.get("\(Self.path)?id_token_hint=t&state=s", cookie: OpenIDStage.session)
        #expect(answer.status == 303 && answer.location == "https://app.example/bye?x=1&state=a%20b")
        #expect(answer.cookies.contains(Self.cleared))
        let call = try #require(stage.seen.ended.withLock { $0.first })
        #expect(call.parameters.map(\.name) == ["id_token_hint", "state"] && call.browserToken == "browser-token")
        #expect(!call.isConfirmed)
    }

    @Test func `Without a place to go there is a page`() async throws {
        let stage = try Self.stage(needsConfirmation: false)
        let answer = try await stage.get(Self.path)
        #expect(answer.status == 200)
        #expect(try answer.page.text.contains("You’re signed out"))
        #expect(answer.cookie("__Host-vestibule-session") == nil, "there was no session to clear")
    }

    @Test func `Another request is confirmed by a form of ours`() async throws {
        let stage = try Self.stage(needsConfirmation: true, redirectURI: "https://app.example/bye")
        let uri = "\(Self.path)?client_id=c&state=%3Cb%3E&confirmed=yes"
        let asked = try await stage.get(uri, cookie: OpenIDStage.session)
        let page = try asked.page
        #expect(asked.status == 200 && page["form"] == ["method": "post", "action": Self.path])
        #expect(asked.cookies.isEmpty)
        let value = PageForm.value(ofToken: "browser-token")
        #expect(
            page.hiddenFields == [
                ["client_id", "c"], ["state", "<b>"], ["confirmed", "yes"], ["form_value", value],
            ]
        )
        let form = "client_id=c&state=%3Cb%3E&confirmed=yes&form_value=\(value)"
        let done = try await stage.post(Self.path, form, cookie: OpenIDStage.session)
        #expect(done.status == 200 && done.cookies.contains(Self.cleared))
        #expect(try done.page["a"]?["href"] == "https://app.example/bye?state=a%20b")
        let calls = stage.seen.ended.withLock { $0 }
        #expect(calls.map(\.isConfirmed) == [false, true])
        #expect(calls.allSatisfy { $0.parameters.map(\.name) == ["client_id", "state"] })
    }

    @Test(arguments: [
        "confirmed=yes", "confirmed=yes&form_value=", "confirmed=yes&form_value=other",
        "confirmed=yes&form_value=\(PageForm.value(ofToken: "another-token"))",
        "confirmed=no&form_value=\(PageForm.value(ofToken: "browser-token"))",
        "form_value=\(PageForm.value(ofToken: "browser-token"))",
        "confirmed=yes&form_value=a&form_value=\(PageForm.value(ofToken: "browser-token"))",
    ])
    func `A forged confirmation signs nobody out`(form: String) async throws {
        let stage = try Self.stage(needsConfirmation: true)
        let answer = try await stage.post(Self.path, form, cookie: OpenIDStage.session)
        #expect(answer.status == 200 && !answer.cookies.contains(Self.cleared))
        #expect(try answer.page.text.contains("Sign out?"))
        let query = try await stage.get("\(Self.path)?\(form)", cookie: OpenIDStage.session)
        #expect(!query.cookies.contains(Self.cleared))
        #expect(stage.seen.ended.withLock { $0.allSatisfy { !$0.isConfirmed } })
    }

    @Test(arguments: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://evil.example"])
    func `A form that the browser says another site sent confirms nothing`(field: String) async throws {
        let stage = try Self.stage(needsConfirmation: true)
        let parts = field.split(separator: ": ").map(String.init)
        let name = try #require(HTTPField.Name(parts[0]))
        let form = "confirmed=yes&form_value=\(PageForm.value(ofToken: "browser-token"))"
        let answer = try await stage.post(Self.path, form, cookie: OpenIDStage.session, headers: [name: parts[1]])
        #expect(!answer.cookies.contains(Self.cleared))
        #expect(stage.seen.ended.withLock { $0.allSatisfy { !$0.isConfirmed } })
    }

    /// The browser sends the session's cookie with the GET that follows, but not with another site's POST.
    @Test func `A client's form goes on as a query`() async throws {
        let stage = try Self.stage(needsConfirmation: false)
        let answer = try await stage.post(Self.path, "id_token_hint=t&state=a%26b&confirmed=yes")
        #expect(answer.status == 303 && answer.location == "\(Self.path)?id_token_hint=t&state=a%26b")
        #expect(answer.cookies.isEmpty && stage.gateway.stubs.calls.isEmpty)
        let long = try await stage.post(Self.path, "id_token_hint=\(String(repeating: "a", count: 7000))")
        #expect(long.status == 400)
    }

    @Test func `An error is a page`() async throws {
        let stage = try OpenIDStage()
        stage.gateway.stubs.oauth.set { answers in
            answers.endBrowserSession = { _, _ in .with { $0.failure.description_p = "The <uri> is unknown." } }
        }
        let answer = try await stage.get(Self.path, cookie: OpenIDStage.session)
        #expect(answer.status == 400 && answer.cookies.isEmpty)
        #expect(try answer.page.text.contains("The <uri> is unknown."))
        stage.gateway.stubs.oauth.set { $0.endBrowserSession = { _, _ in throw RPCError(.unavailable, "down") } }
        #expect(try await stage.get(Self.path).status == 503)
    }
}
