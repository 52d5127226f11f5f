import Foundation
import HTTPClients
import HTTPJSON
import HTTPTypes
import JOSE
import Testing

@testable import ProviderSimulator

/// The pages of Apple and Google, driven without scripts.
struct AuthorizeTests {
    private static let redirect = "https://example.com/callback"
    private static let apple = [
        ("client_id", "com.example.services"), ("redirect_uri", redirect), ("response_type", "code id_token"),
        ("scope", "name email"), ("response_mode", "form_post"), ("state", "s t"), ("nonce", "n"),
    ]
    private static let ana = [("email", "ana@example.com"), ("given_name", "Ana"), ("family_name", "Reyes")]

    private func page(_ simulation: Simulation, _ path: String, _ fields: [(String, String)]) async throws -> (
        HandlerClient.Answer, String
    ) {
        let response = try await simulation.ask(.get, "\(path)?\(Simulation.form(fields))")
        return (response, response.text)
    }

    /// The hidden fields of a page, as a browser would send them.
    private func hidden(_ page: String) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/) {
            let value = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
                .reduce(String(match.2)) { $0.replacing($1.0, with: $1.1) }
            fields[String(match.1)] = value
        }
        return fields
    }

    @Test func `Apple's page asks for a person, and its form posts code, token and name to the app`() async throws {
        let simulation = try Simulation()
        let (shown, html) = try await page(simulation, "/apple/auth/authorize", Self.apple)
        #expect(shown.status == .ok && shown.headers[.contentType] == "text/html; charset=utf-8")
        #expect(hidden(html) == Dictionary(uniqueKeysWithValues: Self.apple))
        let choice = hidden(html).map { ($0.key, $0.value) } + Self.ana
        let (response, back) = try await simulation.postForPage("/apple/auth/authorize", choice)
        #expect(response.status == .ok)
        let form = #"<form id="answer" class="forward" method="post" action="https://example.com/callback">"#
        #expect(back.contains(form))
        let fields = hidden(back)
        #expect(Set(fields.keys) == ["code", "id_token", "user", "state"] && fields["state"] == "s t")
        let claims = try await simulation.verifiedClaims(fields["id_token"], "apple")
        #expect(claims["aud"] == "com.example.services" && claims["nonce"] == "n")
        #expect(claims["c_hash"]?.string == Base64URL.encode(SHA256.hash(fields["code"] ?? "").prefix(16)))
        let user = try JSONObject(parsing: Array((fields["user"] ?? "").utf8))
        #expect(user == ["name": ["firstName": "Ana", "lastName": "Reyes"], "email": "ana@example.com"])
        // A page's code is for the redirect URI it was sent to.
        let client = try AppleClient("com.example.services")
        let exchange = try client.exchange(fields["code"] ?? "", [("redirect_uri", Self.redirect)])
        #expect(try await simulation.post("/apple/auth/token", exchange).0.status == .ok)

        let (_, again) = try await simulation.postForPage("/apple/auth/authorize", choice)
        #expect(Set(hidden(again).keys) == ["code", "id_token", "state"])
    }

    @Test func `A person who signed in before can be chosen`() async throws {
        let simulation = try Simulation()
        _ = try await simulation.postForPage("/apple/auth/authorize", Self.apple + Self.ana + [("hide_email", "on")])
        let (_, html) = try await page(simulation, "/apple/auth/authorize", Self.apple)
        let buttons = html.matches(of: /<button name="sub" value="([^"]*)" formnovalidate>([^<]*)</)
        #expect(buttons.first?.2 == "Maria Santos, maria.santos@example.com", "some are always there")
        let button = try #require(buttons.first { $0.2.hasPrefix("Ana Reyes, ") })
        #expect(button.2.hasSuffix("@privaterelay.appleid.com"))
        let chosen = Self.apple + [("sub", String(button.1)), ("email", "someone@example.com")]
        let (_, back) = try await simulation.postForPage("/apple/auth/authorize", chosen)
        let claims = try await simulation.verifiedClaims(hidden(back)["id_token"], "apple")
        #expect(claims["sub"]?.string == String(button.1) && claims["is_private_email"] == true)
    }

    @Test func `A cancelled sign-in returns Apple's error, or Google's`() async throws {
        let simulation = try Simulation()
        let cancel = [("action", "cancel")]
        let (_, back) = try await simulation.postForPage("/apple/auth/authorize", Self.apple + Self.ana + cancel)
        #expect(hidden(back) == ["error": "user_cancelled_authorize", "state": "s t"])
        let google = [
            ("client_id", "c"), ("redirect_uri", Self.redirect), ("response_type", "code"), ("scope", "openid"),
            ("state", "s"),
        ]
        let (response, _) = try await simulation.postForPage("/google/o/oauth2/v2/auth", google + cancel)
        #expect(response.status == .seeOther)
        #expect(response.headers[.location] == "https://example.com/callback?error=access_denied&state=s")
    }

    @Test func `A client that asks for JSON gets the target of the redirect`() async throws {
        let simulation = try Simulation()
        let (response, answer) = try await simulation.post(
            "/apple/auth/authorize",
            Self.apple + Self.ana,
            headers: [.accept: "application/json"]
        )
        #expect(response.status == .ok && answer["location"]?.string == Self.redirect && answer["method"] == "post")
        #expect(answer["fields"]?.object?["id_token"]?.string != nil)
        let (refused, problem) = try await simulation.post(
            "/apple/auth/authorize",
            Self.apple,
            headers: [.accept: "application/json"]
        )
        #expect(refused.status == .badRequest && problem["code"] == "REQUEST_INVALID")
    }

    @Test func `Query and fragment have the allowed values`() async throws {
        let simulation = try Simulation()
        let base = [("client_id", "c"), ("redirect_uri", "http://127.0.0.1:5000/back?a=1")]
        let (query, _) = try await simulation.postForPage(
            "/apple/auth/authorize",
            base + [("response_type", "code"), ("response_mode", "query")] + Self.ana
        )
        #expect(
            query.headers[.location]?.wholeMatch(of: /http:\/\/127\.0\.0\.1:5000\/back\?a=1&code=c[0-9a-f]{32}\..*/)
                != nil
        )
        let (fragment, _) = try await simulation.postForPage(
            "/apple/auth/authorize",
            base + [("response_type", "id_token")] + Self.ana
        )
        let location = try #require(fragment.headers[.location])
        #expect(location.hasPrefix("http://127.0.0.1:5000/back?a=1#id_token="))
        #expect(!location.contains("code="))
        // The address was not requested.
        let token = location.split(separator: "=").last.map(String.init)
        #expect(try await simulation.verifiedClaims(token, "apple")["email"] == nil)
    }

    @Test func `A code of Google's page buys what was requested`() async throws {
        let simulation = try Simulation()
        let verifier = String(repeating: "x", count: 50)
        let request = [
            ("client_id", "c"), ("redirect_uri", Self.redirect), ("response_type", "code"),
            ("scope", "openid email profile"), ("state", "s"), ("nonce", "n"), ("code_challenge_method", "S256"),
            ("code_challenge", Base64URL.encode(SHA256.hash(verifier))),
        ]
        let (_, html) = try await page(simulation, "/google/o/oauth2/v2/auth", request)
        #expect(html.contains("Sign in with Google") && !html.contains("hide_email"))
        let (response, _) = try await simulation.postForPage("/google/o/oauth2/v2/auth", request + Self.ana)
        let location = try #require(response.headers[.location])
        let code = String(try #require(location.firstMatch(of: /[?&]code=([^&]*)/)).1).replacing("%2F", with: "/")
        #expect(location.hasSuffix("&state=s"))
        let (_, tokens) = try await simulation.post(
            "/google/token",
            [
                ("client_id", "c"), ("code", code), ("grant_type", "authorization_code"),
                ("redirect_uri", Self.redirect), ("code_verifier", verifier),
            ]
        )
        let claims = try await simulation.verifiedClaims(tokens["id_token"]?.string, "google")
        #expect(claims["nonce"] == "n" && claims["email"] == "ana@example.com")
    }

    @Test(arguments: [
        ("client_id", nil, "invalid_client"), ("client_id", String(repeating: "c", count: 257), "invalid_client"),
        ("redirect_uri", nil, "invalid_request"), ("redirect_uri", "http://example.com/", "invalid_request"),
        ("redirect_uri", "http://127.0.0.1.example.com/", "invalid_request"),
        ("redirect_uri", "http://localhost:x/", "invalid_request"), ("redirect_uri", "https://", "invalid_request"),
        ("redirect_uri", "javascript:alert(1)", "invalid_request"), ("redirect_uri", "a.b:/x", "invalid_request"),
        ("redirect_uri", "https://a@example.com/", "invalid_request"),
        ("redirect_uri", "https://example.com/#f", "invalid_request"),
        ("response_type", nil, "unsupported_response_type"),
        ("response_type", "token", "unsupported_response_type"), ("response_mode", nil, "invalid_request"),
        ("response_mode", "query", "invalid_request"), ("response_mode", "post", "invalid_request"),
        ("scope", "name everything", "invalid_scope"),
        ("nonce", String(repeating: "n", count: 1025), "invalid_request"),
    ])
    func `A request with an invalid redirect URI gets an error page`(
        name: String,
        value: String?,
        word: String
    ) async throws {
        let fields = Self.apple.filter { $0.0 != name } + (value.map { [(name, $0)] } ?? [])
        let simulation = try Simulation()
        for (response, html) in [
            try await page(simulation, "/apple/auth/authorize", fields),
            try await simulation.postForPage("/apple/auth/authorize", fields + Self.ana),
        ] {
            #expect(response.status == .badRequest)
            #expect(html.contains("<h1>\(word)</h1>"), "\(html)")
            #expect(!html.contains("action="))
        }
    }

    @Test func `Repeated parameters are refused`() async throws {
        let (response, html) = try await page(
            Simulation(),
            "/apple/auth/authorize",
            Self.apple + [("client_id", "com.example.other")]
        )
        #expect(response.status == .badRequest && html.contains("client_id comes more than once."))
    }

    @Test func `No value of a request becomes markup or a script`() async throws {
        let evil = #""><script>alert('1')</script><a href='&"#
        var fields = Self.apple.filter { !["client_id", "state", "redirect_uri"].contains($0.0) }
        fields += [("client_id", evil), ("state", evil), ("redirect_uri", "https://example.com/'><b>")]
        let simulation = try Simulation()
        let (refused, fault) = try await page(simulation, "/apple/auth/authorize", fields)
        #expect(refused.status == .badRequest && !fault.contains("<b>"))
        fields = fields.filter { $0.0 != "redirect_uri" } + [("redirect_uri", "https://example.com/'onfocus='x")]
        let people = [("email", "a@example.com"), ("given_name", evil), ("family_name", evil)]
        let (_, back) = try await simulation.postForPage("/apple/auth/authorize", fields + people)
        let (response, html) = try await page(simulation, "/apple/auth/authorize", fields)
        let policy = try #require(response.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'self'; ") && !policy.contains("script-src"))
        #expect(!html.contains("<script") && html.contains("&lt;script&gt;"))
        #expect(hidden(html)["state"] == evil && hidden(html)["client_id"] == evil)
        #expect(back.components(separatedBy: "<script").count == 2, "only its own")
        #expect(back.contains(#"action="https://example.com/&#39;onfocus=&#39;x""#))
        #expect(hidden(back)["state"] == evil)
        let (bad, again) = try await simulation.postForPage("/apple/auth/authorize", fields + [("sub", "é\(evil)")])
        #expect(bad.status == .badRequest && again.contains("role=\"alert\"") && !again.contains("<script"))
    }

    @Test func `A page may not be framed and runs only its own script`() async throws {
        let simulation = try Simulation()
        let (answer, back) = try await simulation.postForPage("/apple/auth/authorize", Self.apple + Self.ana)
        let policy = try #require(answer.headers[.contentSecurityPolicy])
        // The form goes to the app, wherever that is.
        #expect(policy.contains("frame-ancestors 'none'; script-src 'self'") && !policy.contains("form-action"))
        #expect(answer.headers[.cacheControl] == "no-store" && answer.headers[.referrerPolicy] == "strict-origin")
        let script = try #require(back.firstMatch(of: /<script type="module" src="([^"]*)"><\/script>/)).1
        #expect(try await simulation.ask(.get, String(script)).text.contains("requestSubmit"))
        let (home, html) = try await page(simulation, "/", [])
        #expect(home.status == .ok && html.contains("apple/auth/keys"))
        for match in html.matches(of: /href="([^"]*)"/) {
            let path = String(match.1)
            #expect(try await simulation.ask(.get, path).status == .ok, "\(path)")
        }
    }
}
