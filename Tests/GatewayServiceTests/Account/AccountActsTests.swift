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

/// What the forms of the pages do.
struct AccountActsTests {
    @Test func `A profile's form sends what is changed alone`() async throws {
        let stage = try AccountStage()
        let saved = Mutex<[ProfileV1.UpdateProfileRequest]>([])
        stage.stage.gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                saved.withLock { $0.append(request) }
                return .with { ($0.profile.displayName, $0.profile.phoneNumber) = ("Maria", "+639171234567") }
            }
        }
        let answer = try await stage.post("/my/profile", "display_name=Maria&username=&phone_number=0917+123+4567")
        #expect(answer.status == 303 && answer.location == "/my/profile?notice=saved")
        let call = try #require(saved.withLock { $0.first })
        #expect(call.phoneNumber == "0917 123 4567" && !call.hasDisplayName && !call.hasUsername)
    }

    @Test func `What is wrong with a field stands at it`() async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.profile.set { answers in
            answers.updateProfile = { _, _ in
                throw RPCError.domain(
                    .alreadyExists,
                    reason: "PHONE_TAKEN",
                    message: "taken",
                    field: "phone_number"
                )
            }
        }
        let answer = try await stage.post(
            "/my/profile",
            "display_name=Maria&phone_number=%2B639171234567&username=x%22y"
        )
        #expect(answer.status == 422)
        let inputs = try answer.page.elements.filter { $0.name == "input" }
        let phone = try #require(inputs.first { $0.attributes["name"] == "phone_number" }?.attributes)
        #expect(phone["aria-invalid"] == "true" && phone["autofocus"] != nil && phone["value"] == "+639171234567")
        #expect(phone["aria-describedby"] == "phone_number-error phone_number-hint")
        let name = try #require(inputs.first { $0.attributes["name"] == "username" }?.attributes)
        #expect(name["aria-invalid"] == nil && name["value"] == "x\"y", "what was typed stays")
        #expect(try answer.page.elements.contains { $0.attributes["role"] == "alert" })
    }

    @Test func `A complete profile goes on to the client that waits, by a link`() async throws {
        let stage = try AccountStage()
        let address = ProfilePage.address(OpenIDStage.sealed, required: ["username"], languages: "ja")
        let page = try await stage.get(address).page
        #expect(page["html"]?["lang"] == "ja" && page["form"]?["action"] == "/my/profile?ui_locales=ja")
        let links = page.elements.filter { $0.name == "a" }.compactMap { $0.attributes["href"] }
        #expect(links == ["/oauth2/authorize/continue?request=\(OpenIDStage.sealed)&cancelled=true"])
        #expect(page.hiddenFields.contains(["request", OpenIDStage.sealed]))
        #expect(page.hiddenFields.contains(["required", "phone_number username"]))
        stage.stage.gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                .with { ($0.profile.displayName, $0.profile.phoneNumber) = ("Maria", "+639171234567") }
            }
        }
        let form = "request=\(OpenIDStage.sealed)&required=phone_number+username&display_name=Maria&phone_number=1"
        let lacking = try await stage.post("/my/profile", "\(form)&username=")
        #expect(lacking.status == 422, "the client requires a username")
        stage.stage.gateway.stubs.profile.set { answers in
            answers.updateProfile = { request, _ in
                .with {
                    ($0.profile.displayName, $0.profile.phoneNumber) = ("Maria", "+639171234567")
                    $0.profile.username = request.username
                }
            }
        }
        let done = try await stage.post("/my/profile", "\(form)&username=maria")
        #expect(done.status == 200)
        let next = "/oauth2/authorize/continue?request=\(OpenIDStage.sealed)"
        #expect(try done.page["a"]?["href"] == next)
        let signedOut = try await stage.stage.get(address)
        #expect(signedOut.location == next, "without a session the client's request signs in")
    }

    @Test(arguments: [
        (["display_name"], false, "https://app.example/callback?code=c"),
        (["display_name", "phone_number"], true, "https://app.example/callback?error=interaction_required"),
        (
            ["display_name", "phone_number"], false,
            "/my/profile?request=\(OpenIDStage.sealed)&required=display_name%20phone_number"
        ),
    ])
    func `A client gets a code once the profile has what it requires`(
        fields: [String],
        isSilent: Bool,
        location: String
    ) async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.oauth.set { answers in
            answers.authorize = { request, _ in
                .with {
                    $0.answer.redirectUri = "https://app.example/callback"
                    switch request.profile {
                    case .complete: $0.answer.parameters = [.with { ($0.name, $0.value) = ("code", "c") }]
                    case .incomplete:
                        $0.answer.parameters = [.with { ($0.name, $0.value) = ("error", "interaction_required") }]
                    case .unspecified, .UNRECOGNIZED:
                        $0.completeProfile.request = OpenIDStage.sealed
                        ($0.completeProfile.fields, $0.completeProfile.isSilent) = (fields, isSilent)
                    }
                    guard request.profile != .unspecified else { return }
                    #expect(request.request == OpenIDStage.sealed && request.browserToken == AccountStage.token)
                    #expect(request.parameters.isEmpty)
                }
            }
        }
        let answer = try await stage.get("/oauth2/authorize?client_id=app")
        #expect(answer.status == 303 && answer.location == location)
    }

    @Test func `An act that needs a fresh sign-in leads to one, and back`() async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.identity.set { answers in
            answers.deleteAccount = { _, _ in
                throw RPCError.domain(.permissionDenied, reason: "RECENT_SIGN_IN_REQUIRED", message: "old")
            }
        }
        let unchecked = try await stage.post("/my/account/deletion")
        #expect(unchecked.location == "/my/account/deletion" && stage.calls.isEmpty)
        let answer = try await stage.post("/my/account/deletion", "confirmed=yes")
        #expect(answer.status == 403)
        let address = "/sign-in?to=%2Fmy%2Faccount%2Fdeletion&prompt=login"
        #expect(try answer.page.elements.contains { $0.attributes["href"] == address })
        let page = try await stage.get(address)
        #expect(page.status == 200, "the session that the browser has does not suffice")
        let goal = try #require(ReturnPath("/my/account/deletion"))
        #expect(
            try page.page.elements.contains {
                $0.attributes["href"] == "/sign-in/apple?request=\(goal.request(isAnew: true))"
            }
        )
    }

    @Test func `A deleted account's browser is signed out`() async throws {
        let stage = try AccountStage()
        stage.stage.gateway.stubs.identity.set { answers in
            answers.deleteAccount = { _, _ in .with { $0.consentsLeft = ["apple"] } }
        }
        let answer = try await stage.post("/my/account/deletion", "confirmed=yes")
        #expect(answer.status == 200 && answer.cookie("__Host-vestibule-session") == "__Host-vestibule-session=")
        #expect(try answer.page.text.contains("Apple"))
    }

    @Test func `Linking comes back by the browser's cookies, and needs the user's click`() async throws {
        let stage = try AccountStage()
        stage.stage.acceptSignIns()
        let linked = Mutex<[IdentityV1.LinkProviderRequest]>([])
        stage.stage.gateway.stubs.identity.set { answers in
            answers.linkProvider = { request, _ in
                linked.withLock { $0.append(request) }
                return .init()
            }
        }
        let begun = try await stage.post("/my/account/providers/google/link")
        #expect(begun.location == "https://provider.example/authorize?state=s")
        let cookie = try #require(begun.cookie("__Host-vestibule-sign-in"))
        let finished = try await stage.stage.post(
            "/sign-in/google/callback",
            "state=vws1_state&id_token=t&code=c",
            cookie: cookie
        )
        #expect(finished.location == "/my/account/link")
        #expect(stage.stage.seen.signedIn.withLock { $0.isEmpty }, "it is no sign-in")
        let kept = try #require(finished.cookie("__Host-vestibule-link"))
        #expect(finished.cookie("__Host-vestibule-session") == nil)
        let cookies = "\(OpenIDStage.session); \(kept)"
        let page = try await stage.stage.get("/my/account/link", cookie: cookies)
        #expect(page.status == 200 && linked.withLock { $0.isEmpty }, "a visit links nothing")
        #expect(try page.page.text.contains("<maria@example.com>"), "the user sees which account it is")
        let form = "form_value=\(AccountStage.formValue)"
        let done = try await stage.stage.post("/my/account/link", form, cookie: cookies)
        #expect(
            done.location == "/my/account?notice=linked"
                && done.cookie("__Host-vestibule-link") == "__Host-vestibule-link="
        )
        let call = try #require(linked.withLock { $0.first })
        #expect(call.accessToken == StubServices.accessToken && call.credentials.provider == "google")
        #expect(call.credentials.idToken == "vit1_ticket" && call.credentials.authorizationCode == "vct1_ticket")
        #expect(call.credentials.codeVerifier.count == 43)
    }

    @Test func `No link, and no other session's linking, links anything`() async throws {
        let stage = try AccountStage()
        stage.stage.acceptSignIns()
        let request = LinkRequest(formValue: AccountStage.formValue).request
        #expect(try await stage.get("/sign-in/google?request=\(request)").status == 400)
        for part in ["x", PageForm.value(ofToken: "another-token")] {
            let cookies = "\(OpenIDStage.session); __Host-vestibule-link=google.vit1_t.vct1_t.verifier.\(part)."
            #expect(try await stage.stage.get("/my/account/link", cookie: cookies).status == 400)
            let form = "form_value=\(AccountStage.formValue)"
            #expect(try await stage.stage.post("/my/account/link", form, cookie: cookies).status == 400)
        }
        #expect(stage.calls.isEmpty)
    }

    @Test func `An account that another one took in signs in again`() async throws {
        let stage = try AccountStage()
        let ended = Mutex<[IdentityV1.SignOutRequest]>([])
        stage.stage.gateway.stubs.identity.set { answers in
            answers.linkProvider = { _, _ in .with { $0.tokens = StubServices.tokens } }
            answers.signOut = { request, _ in
                ended.withLock { $0.append(request) }
                return .init()
            }
        }
        let linking = "__Host-vestibule-link=google.vit1_t.vct1_t.verifier.\(AccountStage.formValue)."
        let answer = try await stage.stage.post(
            "/my/account/link",
            "form_value=\(AccountStage.formValue)",
            cookie: "\(OpenIDStage.session); \(linking)"
        )
        #expect(answer.location == "/sign-in?to=%2Fmy%2Faccount&notice=joined")
        #expect(answer.cookie("__Host-vestibule-session") == "__Host-vestibule-session=")
        #expect(ended.withLock { $0.map(\.refreshToken) } == ["rt"], "no session is left that nobody has")
    }

    @Test func `A failed linking says why`() async throws {
        let stage = try AccountStage()
        stage.stage.acceptSignIns()
        let request = LinkRequest(formValue: AccountStage.formValue).request
        let cookie = "__Host-vestibule-sign-in=vws1_state.v.\(request).google"
        let answer = try await stage.stage.post(
            "/sign-in/google/callback",
            "state=vws1_state&error=access_denied",
            cookie: cookie
        )
        #expect(answer.location == "/my/account/link?notice=cancelled")
        #expect(try await stage.get(try #require(answer.location)).status == 400)
    }
}
