import API
import APIDoubles
import HTTPTypes
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Passkeys on the pages of a signed-in user.
struct PasskeyPagesTests {
    private static let options = #"{"challenge":"Yw","rp":{"id":"<example.com>"}}"#

    private let stage: AccountStage
    private let seen = Seen()

    private final class Seen: Sendable {
        let added = Mutex<[IdentityV1.AddPasskeyRequest]>([])
        let renamed = Mutex<[IdentityV1.RenamePasskeyRequest]>([])
        let removed = Mutex<[IdentityV1.RemovePasskeyRequest]>([])
    }

    init() throws {
        stage = try AccountStage()
        turn(on: true)
        let seen = seen
        stage.stage.gateway.stubs.identity.set { answers in
            answers.listPasskeys = { _, _ in
                .with {
                    $0.passkeys = [
                        .with {
                            ($0.passkeyID, $0.name, $0.createdAtMs) = (AccountStage.group, "<Blue> phone", 1_000)
                            $0.isBackedUp = true
                        }
                    ]
                }
            }
            answers.createPasskeyRegistration = { _, _ in
                .with { ($0.options, $0.expiresInSeconds) = (Self.options, 300) }
            }
            answers.addPasskey = { request, _ in
                seen.added.withLock { $0.append(request) }
                return .init()
            }
            answers.renamePasskey = { request, _ in
                seen.renamed.withLock { $0.append(request) }
                return .init()
            }
            answers.removePasskey = { request, _ in
                seen.removed.withLock { $0.append(request) }
                return .init()
            }
        }
    }

    private func turn(on isOn: Bool) {
        stage.stage.gateway.stubs.oauth.set { answers in
            let use = answers.useBrowserSession
            answers.useBrowserSession = { request, context in
                var response = try await use(request, context)
                response.signIn.passkeysEnabled = isOn
                return response
            }
        }
    }

    private func refuse(_ reason: String, _ status: Status.Code) {
        stage.stage.gateway.stubs.identity.set { answers in
            answers.createPasskeyRegistration = { _, _ in throw RPCError.domain(status, reason: reason, message: "no") }
            answers.addPasskey = { _, _ in throw RPCError.domain(status, reason: reason, message: "no") }
        }
    }

    @Test func `The account lists its passkeys`() async throws {
        let page = try await stage.get("/my/account").page
        #expect(page.text.contains("<Blue> phone") && page.text.contains("Never used"))
        #expect(page.text.contains("Backed up"))
        let actions = page.elements.filter { $0.name == "form" }.compactMap { $0.attributes["action"] }
        #expect(actions.contains("/my/account/passkeys/\(AccountStage.group)/name"))
        #expect(actions.contains("/my/account/passkeys/\(AccountStage.group)/remove"))
        let link = try #require(page.elements.firstIndex { $0.attributes["href"] == AddPasskeyPage.path })
        #expect(page.elements[link - 1].attributes["hidden"] == "")
    }

    @Test func `Where passkeys are off the account's page has nothing of them, and asks nobody`() async throws {
        turn(on: false)
        let page = try await stage.get("/my/account").page
        #expect(!page.text.contains("passkey") && !stage.calls.contains("ListPasskeys"))
        #expect(!page.elements.contains { $0.attributes["src"] == PageAsset.passkeyScript.address })
    }

    @Test(arguments: [(["passkey"], false), (["passkey", "apple"], true)])
    func `The last way in has no button that removes it`(providers: [String], canRemove: Bool) async throws {
        stage.stage.gateway.stubs.identity.set { answers in
            answers.getAccount = { _, _ in
                .with { $0.account.identities = providers.map { name in .with { $0.provider = name } } }
            }
        }
        let page = try await stage.get("/my/account").page
        let actions = page.elements.filter { $0.name == "form" }.compactMap { $0.attributes["action"] }
        #expect(actions.contains { $0.hasSuffix("/remove") } == canRemove)
        #expect(!actions.contains { $0.hasSuffix("/providers/passkey/unlink") })
        #expect(actions.contains { $0.hasSuffix("/providers/apple/unlink") } == canRemove)
    }

    @Test func `The page that adds one has the options for the script`() async throws {
        let answer = try await stage.get(AddPasskeyPage.path, headers: [.userAgent: "X Firefox/140.0 Linux"])
        let page = try answer.page
        let form = try #require(page.elements.first { $0.attributes["class"] == "new-passkey" })
        #expect(form.attributes["data-options"] == Self.options && form.attributes["data-seconds"] == "240")
        #expect(form.attributes["action"] == "/my/account/passkeys" && form.attributes["hidden"] == "")
        #expect(page.hiddenFields == [["form_value", AccountStage.formValue], ["credential", ""]])
        #expect(page.elements.contains { $0.attributes["value"] == "Firefox on Linux" })
        #expect(!answer.policy.contains("connect-src"))
    }

    @Test func `Forms add, rename and remove`() async throws {
        let added = try await stage.post("/my/account/passkeys", "credential=%7B%7D&name=Red+phone")
        #expect(added.status == 303 && added.location == "/my/account?notice=linked")
        let call = try #require(seen.added.withLock { $0.first })
        #expect(call.credential == "{}" && call.name == "Red phone" && call.accessToken == StubServices.accessToken)
        let renamed = try await stage.post("/my/account/passkeys/\(AccountStage.group)/name", "name=Blue")
        #expect(renamed.location == "/my/account?notice=saved")
        let naming = seen.renamed.withLock { $0.first }
        #expect(naming?.passkeyID == AccountStage.group && naming?.name == "Blue")
        let removed = try await stage.post("/my/account/passkeys/\(AccountStage.group)/remove")
        #expect(removed.location == "/my/account?notice=unlinked")
        #expect(seen.removed.withLock { $0.first?.passkeyID } == AccountStage.group)
    }

    @Test func `An old sign-in leads to a new one, and back to the page that adds one`() async throws {
        refuse("RECENT_SIGN_IN_REQUIRED", .permissionDenied)
        for answer in [try await stage.get(AddPasskeyPage.path), try await stage.post("/my/account/passkeys")] {
            #expect(answer.status == 403)
            let links = try answer.page.elements.compactMap { $0.attributes["href"] }
            #expect(links.contains("/sign-in?to=%2Fmy%2Faccount%2Fpasskey&prompt=login"), "\(links)")
        }
    }

    @Test(arguments: [
        ("TOO_MANY_PASSKEYS", Status.Code.failedPrecondition, "as many passkeys as possible"),
        ("PASSKEY_REJECTED", .failedPrecondition, "can’t be added here"),
        ("PASSKEY_CHALLENGE_EXPIRED", .failedPrecondition, "took too long"),
        ("PASSKEY_TAKEN", .alreadyExists, "belongs to another account"),
        ("PASSKEY_NAME_INVALID", .invalidArgument, "Check its length"),
        ("PASSKEY_MALFORMED", .invalidArgument, "can’t be used here"),
        ("PASSKEYS_NOT_ENABLED", .failedPrecondition, "isn’t available here"),
    ])
    func `What is refused is a page with a sentence`(
        reason: String,
        status: Status.Code,
        words: String
    ) async throws {
        refuse(reason, status)
        let answer = try await stage.post("/my/account/passkeys", "credential=a")
        #expect(400..<500 ~= answer.status)
        #expect(try answer.page.text.contains(words))
        // A page that can't be made must not lead to itself.
        let links = try await stage.get(AddPasskeyPage.path).page.elements.filter { $0.attributes["class"] == "button" }
        #expect(links.compactMap { $0.attributes["href"] } == ["/my/account"])
    }
}
