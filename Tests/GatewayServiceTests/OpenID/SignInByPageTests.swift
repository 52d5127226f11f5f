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

/// The way of a browser to a provider and back.
struct SignInByPageTests {
    private static let start = "/sign-in/apple?request=\(OpenIDStage.sealed)"
    private static let callback = "/sign-in/apple/callback"
    private static let next = "/oauth2/authorize/continue?request=\(OpenIDStage.sealed)"
    private static let name = "__Host-vestibule-sign-in"
    private static let verifier = String(repeating: "v", count: 43)
    private static let cookie = "\(name)=vws1_state.\(verifier).\(OpenIDStage.sealed).apple"

    private static func stage(_ origin: String = "https://id.example.com") throws -> OpenIDStage {
        let stage = try OpenIDStage(origin: origin)
        stage.acceptSignIns()
        return stage
    }

    @Test func `A button leads to the provider's page, with a cookie for the way back`() async throws {
        let stage = try Self.stage()
        let answer = try await stage.get(Self.start)
        #expect(answer.status == 303 && answer.location == "https://provider.example/authorize?state=s")
        let call = try #require(stage.seen.begun.withLock { $0.first })
        #expect(call.provider == "apple" && call.appURL.isEmpty)
        #expect(call.redirectUri == "https://id.example.com/sign-in/apple/callback")
        let setting = try #require(answer.cookies.first)
        #expect(setting.hasSuffix("; Path=/; Secure; HttpOnly; SameSite=None; Max-Age=600"))
        let kept = try #require(answer.cookie(Self.name)).dropFirst(Self.name.count + 1).split(separator: ".")
        #expect(kept.count == 4 && kept[3] == "apple" && kept[0] == "vws1_state" && kept[2] == OpenIDStage.sealed)
        #expect(kept[1].count == 43 && call.codeChallenge == Base64URL.encode(SHA256.hash(String(kept[1]))))
        let other = try await stage.get(Self.start)
        #expect(other.cookie(Self.name) != answer.cookie(Self.name), "each sign-in has a verifier of its own")
    }

    @Test(arguments: ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"])
    func `Over http on the same machine cookies have neither prefix nor Secure`(origin: String) async throws {
        let stage = try Self.stage(origin)
        let begun = try await stage.get(Self.start)
        let setting = try #require(begun.cookies.first)
        #expect(setting.hasPrefix("vestibule-sign-in=vws1_state."))
        #expect(setting.hasSuffix("; Path=/; HttpOnly; SameSite=Lax; Max-Age=600"))
        let finished = try await stage.post(
            Self.callback,
            "state=vws1_state&id_token=t",
            cookie: begun.cookie("vestibule-sign-in")
        )
        #expect(
            finished.cookies == [
                "vestibule-sign-in=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0",
                "vestibule-session=new.browser-token; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400",
            ]
        )
    }

    @Test func `A cookie that no browser would keep is an error page`() async throws {
        let stage = try OpenIDStage()
        stage.acceptSignIns(state: "vws1_" + String(repeating: "s", count: 4000))
        let answer = try await stage.get(Self.start)
        #expect(answer.status == 400 && answer.cookies.isEmpty && answer.location == nil)
        #expect(try answer.page.text.contains("go back to the app"))
        stage.acceptSignIns(state: "a; Domain=example.com")
        #expect(try await stage.get(Self.start).status == 400)
    }

    @Test(arguments: [
        ("/sign-in/Apple?request=r", 404), ("/sign-in/apple", 400), ("/sign-in/apple?request=", 400),
        ("/sign-in/\(String(repeating: "a", count: 33))?request=r", 404), ("/sign-in/apple?request=a&request=b", 400),
    ])
    func `What can't be a provider or a request is an error page`(uri: String, status: Int) async throws {
        let stage = try Self.stage()
        let answer = try await stage.get(uri)
        #expect(answer.status == status)
        _ = try answer.page
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test func `A link of another site leads to our page, where the user presses a button`() async throws {
        let stage = try Self.stage()
        let site = try #require(HTTPField.Name("Sec-Fetch-Site"))
        let uri = "/sign-in/apple?request=\(ReturnPath.account.request())"
        let foreign = try await stage.get(uri, headers: [site: "cross-site"])
        #expect(foreign.status == 303 && foreign.location?.hasPrefix("/sign-in?to=") == true)
        #expect(stage.gateway.stubs.calls.isEmpty)
        let own = try await stage.get(uri, headers: [site: "same-origin"])
        #expect(own.location == "https://provider.example/authorize?state=s")
    }

    @Test func `A sign-in that can't begin leads back to the page, with a reason`() async throws {
        let stage = try Self.stage()
        stage.gateway.stubs.identity.set { $0.beginWebSignIn = { _, _ in throw RPCError(.unavailable, "down") } }
        let answer = try await stage.get(Self.start)
        #expect(answer.status == 303 && answer.location == "\(Self.next)&notice=later&provider=apple")
    }

    @Test func `The provider's form signs the browser in`() async throws {
        let stage = try Self.stage()
        let answer = try await stage.post(
            Self.callback,
            "state=vws1_state&id_token=provider.token&code=c&user=%7B%22name%22%3A%7B%22firstName%22%3A%22Ana%22%7D%7D",
            cookie: "\(Self.cookie); \(OpenIDStage.session)",
            headers: [.userAgent: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1"]
        )
        #expect(answer.status == 303 && answer.location == Self.next)
        #expect(
            answer.cookies == [
                "\(Self.name)=; Path=/; Secure; HttpOnly; SameSite=None; Max-Age=0",
                "__Host-vestibule-session=new.browser-token; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=86400",
            ]
        )
        let finished = try #require(stage.seen.finished.withLock { $0.first })
        #expect(finished.provider == "apple" && finished.idToken == "provider.token" && finished.fullName == "Ana")
        #expect(finished.state == "vws1_state" && finished.browserState == "vws1_state")
        #expect(finished.clientsWithoutState.isEmpty)
        #expect(finished.redirectUri == "https://id.example.com/sign-in/apple/callback")
        let call = try #require(stage.seen.signedIn.withLock { $0.first })
        #expect(call.provider == "apple" && call.tokenStyle == .browser && call.deviceName == "Safari on iPhone")
        #expect([call.idToken, call.authorizationCode] == ["vit1_ticket", "vct1_ticket"])
        #expect(call.codeVerifier == Self.verifier)
    }

    /// Login CSRF: no site makes a browser finish a sign-in that it did not begin.
    @Test(arguments: [
        nil, "\(name)=vws1_other.\(verifier).r.apple", "\(name)=.\(verifier).r.apple",
        "\(name)=vws1_state.\(verifier).r",
        "\(cookie); \(cookie)", "vestibule-sign-in=vws1_state.\(verifier).r.apple",
    ])
    func `A form of another state than the cookie's calls nobody`(cookie: String?) async throws {
        let stage = try Self.stage()
        for form in ["state=vws1_state&id_token=t", "id_token=t", "state=&id_token=t", "error=access_denied"] {
            let answer = try await stage.post(Self.callback, form, cookie: cookie)
            #expect(answer.status == 400 && answer.cookies.isEmpty && answer.location == nil)
            _ = try answer.page
        }
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        ("access_denied", "cancelled"), ("user_cancelled_authorize", "cancelled"), ("temporarily_unavailable", "later"),
        ("something_else", "later"), ("invalid_scope", "failed"),
    ])
    func `The provider's error leads back to the page`(error: String, notice: String) async throws {
        let stage = try Self.stage()
        let answer = try await stage.post(Self.callback, "state=vws1_state&error=\(error)", cookie: Self.cookie)
        #expect(answer.status == 303 && answer.location == "\(Self.next)&notice=\(notice)&provider=apple")
        #expect(answer.cookies == ["\(Self.name)=; Path=/; Secure; HttpOnly; SameSite=None; Max-Age=0"])
        #expect(stage.gateway.stubs.calls.isEmpty)
    }

    @Test(arguments: [
        (Status.Code.unavailable, "later"), (.resourceExhausted, "later"), (.unauthenticated, "failed"),
        (.permissionDenied, "refused"), (.invalidArgument, "failed"),
    ])
    func `A sign-in that identity refuses leads back to the page, without a session`(
        code: Status.Code,
        notice: String
    ) async throws {
        let stage = try Self.stage()
        stage.gateway.stubs.identity.set { $0.signIn = { _, _ in throw RPCError(code, "inner words") } }
        let answer = try await stage.post(Self.callback, "state=vws1_state&id_token=t", cookie: Self.cookie)
        #expect(answer.status == 303 && answer.location == "\(Self.next)&notice=\(notice)&provider=apple")
        #expect(answer.cookie("__Host-vestibule-session") == nil)
    }

    @Test func `A session without a token that a cookie can hold is no sign-in`() async throws {
        let stage = try Self.stage()
        for token in ["", "a b", String(repeating: "t", count: 4096)] {
            stage.gateway.stubs.identity.set { $0.signIn = { _, _ in .with { $0.tokens.singleToken = token } } }
            let answer = try await stage.post(Self.callback, "state=vws1_state&id_token=t", cookie: Self.cookie)
            #expect(answer.location == "\(Self.next)&notice=later&provider=apple" && answer.cookies.count == 1)
        }
    }

    @Test(arguments: [
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0) Version/19.0 Mobile/15E148 Safari/604.1", "Safari on iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Chrome/140.0.0.0 Safari/537.36", "Chrome on Mac"),
        ("Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/140.0.0.0 Safari/537.36 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) SamsungBrowser/27.0 Chrome/140.0", "Samsung Internet on Android"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"),
        ("curl/8.9", "Browser"), ("", "Browser"),
        (String(repeating: "x", count: 600) + " Firefox/140.0", "Browser"),
    ])
    func `A device's name is a few words of ours`(userAgent: String, name: String) {
        #expect(DeviceName.of(userAgent: userAgent) == name)
    }
}
