import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing
import WebPages

@testable import GatewayService

/// The way of an invitation link, and the data file.
struct InvitationPageTests {
    private static let token = "AbCdEf-_0123456789"
    private static let cookie = "__Host-vestibule-invitation=\(token)"

    @Test(arguments: [
        token, "https://id.example.com/my/join#\(token)", "https://app.example/i/\(token)",
        " app.example/?invite=\(token)\n",
    ])
    func `The token of what a user pastes`(text: String) {
        #expect(InvitationPage.token(of: text) == Self.token)
    }

    @Test(arguments: [
        "", "#", "no link!", "https://id.example.com/my/join#", "é", String(repeating: "a", count: 513), "a;b",
    ])
    func `What has no token`(text: String) {
        #expect(InvitationPage.token(of: text) == nil)
    }

    @Test func `The token waits in a cookie until the user has signed in`() async throws {
        let stage = try AccountStage()
        let asked = try await stage.stage.get("/my/join")
        #expect(asked.status == 200 && stage.stage.gateway.stubs.calls.isEmpty)
        let kept = try await stage.stage.post("/my/join", "invitation=\(Self.token)")
        #expect(kept.location == "/my/invitation")
        #expect(kept.cookies == ["\(Self.cookie); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=1800"])
        let waiting = try await stage.stage.get("/my/invitation", cookie: Self.cookie)
        #expect(waiting.location == "/sign-in?to=%2Fmy%2Finvitation" && waiting.cookies.isEmpty)
        let page = try await stage.stage.get("/my/invitation", cookie: "\(OpenIDStage.session); \(Self.cookie)")
        #expect(try page.status == 200 && page.page.text.contains("<Trip>"))
        #expect(stage.calls == ["PreviewGroupLink"], "a visit joins nothing")
    }

    @Test func `Another site's form keeps no invitation`() async throws {
        let stage = try AccountStage()
        let answer = try await stage.stage.post("/my/join", "invitation=t", headers: [.origin: "https://evil.example"])
        #expect(answer.status == 403 && answer.cookies.isEmpty)
    }

    @Test(arguments: [
        (AppV1.MemberState.member, "/my/groups/\(AccountStage.group)?notice=joined"),
        (.pending, "/my/groups?notice=asked"),
    ])
    func `The user joins by the form alone`(state: AppV1.MemberState, location: String) async throws {
        let stage = try AccountStage()
        let joined = Mutex<[String]>([])
        stage.stage.gateway.stubs.groups.set { answers in
            answers.joinByLink = { request, _ in
                joined.withLock { $0.append(request.token) }
                return .with { ($0.groupID, $0.state) = (AccountStage.group, state) }
            }
        }
        let cookies = "\(OpenIDStage.session); \(Self.cookie)"
        let form = "form_value=\(AccountStage.formValue)&invitation=\(InvitationPage.mark(of: Self.token))"
        let other = "form_value=\(AccountStage.formValue)&invitation=\(InvitationPage.mark(of: "other"))"
        let replaced = try await stage.stage.post("/my/invitation", "\(other)&accept=yes", cookie: cookies)
        #expect(replaced.location == "/my/invitation" && joined.withLock { $0.isEmpty }, "it was not the one shown")
        let declined = try await stage.stage.post("/my/invitation", "\(form)&accept=no", cookie: cookies)
        #expect(declined.location == "/my/groups" && joined.withLock { $0.isEmpty })
        let answer = try await stage.stage.post("/my/invitation", "\(form)&accept=yes", cookie: cookies)
        #expect(answer.location == location && joined.withLock { $0 } == [Self.token])
        for response in [declined, answer] {
            #expect(response.cookie("__Host-vestibule-invitation") == "__Host-vestibule-invitation=")
        }
    }

    @Test func `The data file has what every page of the lists has`() async throws {
        let stage = try AccountStage()
        let tokens = Mutex<[String]>([])
        stage.stage.gateway.stubs.groups.set { answers in
            answers.listGroups = { request, _ in
                tokens.withLock { $0.append(request.pageToken) }
                let next = ["": "a", "a": "b"][request.pageToken] ?? ""
                return .with { ($0.groups, $0.nextPageToken) = ([.with { $0.name = "Group \(next)" }], next) }
            }
            answers.listBlockedInviters = { _, _ in .init() }
        }
        let answer = try await stage.get("/my/account/data")
        #expect(answer.status == 200 && answer.headers[.contentType] == "application/json")
        #expect(answer.headers[.contentDisposition] == "attachment; filename=\"account.json\"")
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.xContentTypeOptions] == "nosniff")
        let data = try answer.json
        #expect(data["groups"]?.array?.count == 3 && tokens.withLock { $0 } == ["", "a", "b"])
        #expect(data["profile"]?.object?["display_name"] == "Maria" && data["identities"]?.array?.count == 2)
        #expect(data["sessions"]?.array?.count == 2 && data["invitations"]?.array?.count == 1)
    }
}
