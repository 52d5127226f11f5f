import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// A sign-in by a passkey, as the sign-in page's script makes it.
struct PasskeySignInTests {
    private static let name = "__Host-vestibule-passkey"
    private static let secret = String(repeating: "s", count: 43)
    private static let cookie = "\(name)=\(secret)"
    private static let challenge = "Y2hhbGxlbmdl"
    private static let agent = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1"

    private let stage: OpenIDStage
    private let seen = Seen()

    private final class Seen: Sendable {
        let signedIn = Mutex<[IdentityV1.SignInWithPasskeyRequest]>([])
    }

    init() throws {
        stage = try OpenIDStage()
        let seen = seen
        stage.gateway.stubs.identity.set { answers in
            answers.createPasskeyChallenge = { _, _ in
                .with {
                    $0.options = #"{"challenge":"\#(Self.challenge)","rpId":"example.com","allowCredentials":[]}"#
                    $0.expiresInSeconds = 300
                }
            }
            answers.signInWithPasskey = { request, _ in
                seen.signedIn.withLock { $0.append(request) }
                return .with { ($0.tokens.singleToken, $0.tokens.expiresInSeconds) = ("new.browser-token", 86_400) }
            }
        }
    }

    private static func credential(_ clientData: String = #"{"challenge":"\#(challenge)"}"#) -> String {
        #"{"id":"a","response":{"clientDataJSON":"\#(Base64URL.encode(Array(clientData.utf8)))"}}"#
    }

    private static func form(
        credential: String = credential(),
        ticket: String = PasskeySignIn.ticket(challenge, secret),
        request: String = OpenIDStage.sealed
    ) -> String {
        let credential = credential.replacing("{", with: "%7B").replacing("\"", with: "%22")
        return "request=\(request)&ticket=\(ticket)&credential=\(credential)"
    }

    private func signIn(
        _ form: String = form(),
        cookie: String? = cookie,
        headers: HTTPFields = [:]
    ) async throws -> OpenIDStage.Answer {
        try await stage.post(PasskeySignIn.path, form, cookie: cookie, headers: headers)
    }

    @Test func `A challenge comes with the ticket of this browser`() async throws {
        let first = try await stage.post(PasskeySignIn.challengePath, "")
        #expect(first.status == 200 && first.headers[.cacheControl] == "no-store")
        let body = try first.json
        #expect(body["options"]?.object?["challenge"]?.string == Self.challenge && body["expires_in"]?.integer == 300)
        let setting = try #require(first.cookies.first)
        #expect(setting.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"))
        let cookie = try #require(first.cookie(Self.name))
        let secret = String(cookie.dropFirst(Self.name.count + 1))
        #expect(secret.count == 43 && body["ticket"]?.string == PasskeySignIn.ticket(Self.challenge, secret))
        // A second window has the same cookie, so that both can sign in.
        let second = try await stage.post(PasskeySignIn.challengePath, "", cookie: cookie)
        #expect(second.cookie(Self.name) == cookie)
        #expect(try second.json["ticket"] == body["ticket"])
        let another = try await stage.post(PasskeySignIn.challengePath, "", cookie: "\(Self.name)=short")
        #expect(another.cookie(Self.name) != "\(Self.name)=short")
        #expect(try another.json["ticket"] != body["ticket"])
    }

    @Test func `A passkey signs the browser in`() async throws {
        let answer = try await signIn(headers: [.userAgent: Self.agent])
        #expect(answer.status == 200)
        let next = "/oauth2/authorize/continue?request=\(OpenIDStage.sealed)"
        #expect(try answer.json["location"]?.string == next)
        #expect(
            answer.cookies == [
                "\(Self.name)=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0",
                "__Host-vestibule-session=new.browser-token; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=86400",
            ]
        )
        let call = try #require(seen.signedIn.withLock { $0.first })
        #expect(call.credential == Self.credential() && call.tokenStyle == .browser)
        #expect(call.deviceName == "Safari on iPhone")
        let page = try await signIn(Self.form(request: ReturnPath.account.request(isAnew: true)))
        #expect(try page.json["location"]?.string == "/my/account")
    }

    /// Login CSRF: no site makes a browser sign in with a credential for whose challenge it did not ask.
    @Test(arguments: [
        (form(), nil), (form(), "\(name)=\(String(repeating: "t", count: 43))"), (form(), "\(name)="),
        (form(), "\(cookie); \(cookie)"), (form(), "vestibule-passkey=\(secret)"), (form(ticket: ""), cookie),
        (form(ticket: PasskeySignIn.ticket("b3RoZXI", secret)), cookie),
        (form(credential: credential(#"{"challenge":"b3RoZXI"}"#)), cookie),
        (form(credential: credential(#"{"challenge":"\#(challenge)","challenge":"\#(challenge)"}"#)), cookie),
        (form(credential: credential("[]")), cookie), (form(credential: "{}"), cookie), (form(credential: ""), cookie),
        (form(request: "link_\(secret)"), cookie),
    ])
    func `A credential without the ticket of its challenge calls nobody`(form: String, cookie: String?) async throws {
        let answer = try await signIn(form, cookie: cookie)
        #expect(answer.status == 400 && answer.cookies.isEmpty)
        let body = try answer.json
        #expect(body["code"]?.string == "WEB_STATE_INVALID" && body["location"] == nil)
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [PasskeySignIn.path, PasskeySignIn.challengePath])
    func `Another site's form is refused`(path: String) async throws {
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let foreign: [HTTPFields] = [
            [site: "cross-site"], [site: "same-site"], [site: "none"], [.origin: "https://evil.example"],
        ]
        for headers in foreign {
            let answer = try await stage.post(path, Self.form(), cookie: Self.cookie, headers: headers)
            #expect(answer.status == 403 && answer.cookies.isEmpty, "\(headers)")
        }
        #expect(stage.gateway.stubs.calls.isEmpty)
        let own = try await stage.post(path, Self.form(), cookie: Self.cookie, headers: [site: "same-origin"])
        #expect(own.status == 200)
        #expect(try await stage.get(PasskeySignIn.challengePath).status == 405)
    }

    @Test(arguments: ["", "request=", "request=a&request=b", "request=\(String(repeating: "r", count: 3073))"])
    func `A form without one request is refused`(form: String) async throws {
        let answer = try await signIn(form)
        #expect(answer.status == 400)
        #expect(try answer.json["code"]?.string == "REQUEST_INVALID")
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        ("PASSKEY_UNKNOWN", Status.Code.unauthenticated, 400, "en", "This passkey doesn’t open an account here."),
        ("PASSKEY_INVALID", .unauthenticated, 400, "de", "Dieser Passkey kann hier nicht verwendet werden."),
        ("PASSKEY_CHALLENGE_EXPIRED", .failedPrecondition, 400, "en", "This took too long."),
        ("ACCOUNT_BLOCKED", .permissionDenied, 403, "en", "This account is blocked."),
        ("DATABASE_UNAVAILABLE", .unavailable, 503, "en", "That isn’t possible right now."),
    ])
    func `What identity refuses is a sentence for the user`(
        code: String,
        status: Status.Code,
        http: Int,
        language: String,
        sentence: String
    ) async throws {
        stage.gateway.stubs.identity.set {
            $0.signInWithPasskey = { _, _ in throw RPCError.domain(status, reason: code, message: "inner words") }
        }
        let answer = try await signIn("\(Self.form())&ui_locales=\(language)")
        #expect(answer.status == http && answer.cookies.isEmpty && !answer.text.contains("inner words"))
        let body = try answer.json
        #expect(body["code"]?.string == code && body["sentence"]?.string?.hasPrefix(sentence) == true)
    }

    @Test func `Where passkeys are off there is no challenge`() async throws {
        stage.gateway.stubs.identity.set {
            $0.createPasskeyChallenge = { _, _ in
                throw RPCError.domain(.failedPrecondition, reason: "PASSKEYS_NOT_ENABLED", message: "off")
            }
        }
        let answer = try await stage.post(PasskeySignIn.challengePath, "")
        #expect(answer.status == 400 && answer.cookies.isEmpty)
        #expect(try answer.json["code"]?.string == "PASSKEYS_NOT_ENABLED")
    }

    @Test(arguments: ["", "a b", String(repeating: "t", count: 4096)])
    func `A session without a token that a cookie can hold is no sign-in`(token: String) async throws {
        stage.gateway.stubs.identity.set { $0.signInWithPasskey = { _, _ in .with { $0.tokens.singleToken = token } } }
        let answer = try await signIn()
        #expect(answer.status == 500 && answer.cookies.isEmpty)
        #expect(try answer.json["location"] == nil)
    }

    @Test(arguments: [#"{}"#, "[]", "", #"{"challenge":1}"#])
    func `Options without a challenge are an error`(options: String) async throws {
        stage.gateway.stubs.identity.set { $0.createPasskeyChallenge = { _, _ in .with { $0.options = options } } }
        let answer = try await stage.post(PasskeySignIn.challengePath, "")
        #expect(answer.status == 500 && answer.cookies.isEmpty)
    }

    @Test(arguments: [true, false])
    func `The sign-in page has a button where passkeys are on`(isOn: Bool) async throws {
        stage.authorize {
            ($0.signIn.request, $0.signIn.passkeysEnabled) = (OpenIDStage.sealed, isOn)
        }
        let answer = try await stage.get("/oauth2/authorize?client_id=orders")
        let page = try answer.page
        #expect(page.text.contains("Sign in with a passkey") == isOn)
        #expect(answer.policy.contains("connect-src 'self'") == isOn)
        let files = page.elements.filter { $0.name == "script" }.compactMap { $0.attributes["src"] }
        #expect(files == [PageAsset.script.address] + (isOn ? [PageAsset.passkeyScript.address] : []))
        #expect(page.scripts.joined().isEmpty)
        let form = page.elements.first { $0.attributes["class"] == "passkey" }
        #expect(form?.attributes["action"] == (isOn ? PasskeySignIn.path : nil))
        // It is the script's to show it, and to hide what says that there is no way in.
        #expect(page.elements.filter { $0.name == "li" }.allSatisfy { $0.attributes["hidden"] == "" })
        #expect(page.text.contains("Signing in by a browser is not set up"))
    }

    @Test func `The script is a file of ours`() async throws {
        let answer = try await stage.get(PageAsset.passkeyScript.address)
        #expect(answer.status == 200 && answer.headers[.contentType] == "text/javascript; charset=utf-8")
    }
}
