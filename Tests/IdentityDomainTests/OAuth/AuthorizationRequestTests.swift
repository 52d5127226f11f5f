import IdentityDomain
import JOSE
import Testing

struct AuthorizationRequestTests {
    private typealias Rejection = AuthorizationRequest.Rejection
    private static let now: Int64 = 1_800_000_000_000
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let callback = "https://app.example.com/callback"

    private static func clients() throws -> [String: OAuthClient] {
        let uris = [try RedirectURI(callback), try RedirectURI("http://127.0.0.1/callback")]
        func client(_ id: String, secret: String?, scopes: Set<OAuthScope>, pkce: Bool) -> OAuthClient {
            var client = OAuthClient(
                id: id,
                name: "Hikers",
                authentication: secret.map { .secrets([SHA256.hash($0)]) } ?? .none,
                redirectURIs: uris,
                requiresPKCE: pkce
            )
            client.scopes = scopes
            return client
        }
        let all = Set(OAuthScope.allCases)
        return [
            "app": client("app", secret: nil, scopes: all, pkce: true),
            "web": client("web", secret: "s3cret", scopes: all, pkce: false),
            "small": client("small", secret: nil, scopes: [.openid], pkce: true),
        ]
    }

    /// A good request with changes: nil leaves a parameter out.
    private static func read(_ changes: [(String, String?)] = []) throws -> AuthorizationRequest {
        var parameters: [(name: String, value: String)] = [
            ("client_id", "app"), ("redirect_uri", callback), ("response_type", "code"), ("scope", "openid"),
            ("state", "xyz"), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        for (name, value) in changes {
            if value == nil || parameters.contains(where: { $0.name == name }) {
                parameters.removeAll { $0.name == name }
            }
            if let value { parameters.append((name, value)) }
        }
        return try AuthorizationRequest(parameters, clients: clients(), nowMilliseconds: now)
    }

    private static func rejection(_ changes: [(String, String?)]) -> Rejection? {
        do {
            _ = try read(changes)
            return nil
        } catch {
            return error as? Rejection
        }
    }

    @Test func `A complete request is accepted as it is`() throws {
        let request = try Self.read([
            ("scope", "openid email unknown"), ("nonce", "n-1"), ("prompt", "login"), ("max_age", "60"),
            ("idp", "apple"),
            ("ui_locales", "fil en"), ("response_mode", "form_post"), ("foo", "bar"), ("display", "popup"),
        ])
        #expect(request.clientID == "app" && request.redirectURI == Self.callback && request.state == "xyz")
        #expect(
            request.scopes == [.openid, .email] && request.nonce == "n-1" && request.codeChallenge == Self.challenge
        )
        #expect(request.prompt == .login && request.maxAgeSeconds == 60 && request.provider == "apple")
        #expect(
            request.languages == "fil en" && request.responseMode == .formPost && request.madeAtMilliseconds == Self.now
        )
    }

    @Test(
        arguments: [
            [("client_id", nil)], [("client_id", "")], [("client_id", "other")], [("redirect_uri", nil)],
            [("redirect_uri", "https://evil.example/callback")], [("redirect_uri", Self.callback + "?a=1")],
            [("redirect_uri", "javascript:alert(1)")],
        ] as [[(String, String?)]]
    )
    func `Without a client and a redirect URI of its own the error stays on a page`(changes: [(String, String?)]) {
        guard case .page? = Self.rejection(changes) else {
            Issue.record("\(String(describing: Self.rejection(changes)))")
            return
        }
    }

    @Test func `A client id or redirect URI that is repeated is an error of a page`() throws {
        for name in ["client_id", "redirect_uri"] {
            let parameters: [(name: String, value: String)] = [
                ("client_id", "app"), ("redirect_uri", Self.callback), ("response_type", "code"),
                (name, name == "client_id" ? "app" : Self.callback),
            ]
            let error = #expect(throws: Rejection.self) {
                try AuthorizationRequest(parameters, clients: Self.clients(), nowMilliseconds: Self.now)
            }
            guard case .page? = error else { throw try #require(error) }
        }
    }

    @Test(
        arguments: [
            ([("response_type", nil)], .invalidRequest), ([("response_type", "token")], .unsupportedResponseType),
            ([("response_type", "code id_token")], .unsupportedResponseType), ([("scope", nil)], .invalidScope),
            ([("scope", "unknown")], .invalidScope), ([("code_challenge", nil)], .invalidRequest),
            ([("code_challenge", nil), ("code_challenge_method", nil), ("nonce", "n")], .invalidRequest),
            ([("code_challenge_method", "plain")], .invalidRequest),
            ([("code_challenge_method", nil)], .invalidRequest),
            ([("code_challenge", "short")], .invalidRequest), ([("response_mode", "fragment")], .invalidRequest),
            ([("prompt", "none login")], .invalidRequest), ([("prompt", "create")], .invalidRequest),
            ([("max_age", "-1")], .invalidRequest), ([("max_age", "soon")], .invalidRequest),
            ([("max_age", "99999999999999999999")], .invalidRequest), ([("request", "e.y.J")], .requestNotSupported),
            ([("request_uri", "https://app.example.com/r")], .requestURINotSupported),
            ([("registration", "{}")], .registrationNotSupported),
            ([("nonce", String(repeating: "n", count: AuthorizationRequest.nonceBytesMax + 1))], .invalidRequest),
        ] as [([(String, String?)], OAuthFailure.Word)]
    )
    func `Other errors go to the client, with the state`(changes: [(String, String?)], word: OAuthFailure.Word) {
        guard case .client(let failure, let target)? = Self.rejection(changes) else {
            Issue.record("\(String(describing: Self.rejection(changes)))")
            return
        }
        #expect(failure.word == word && target.state == "xyz" && target.redirectURI == Self.callback)
        // RFC 6749 section 4.1.2.1.
        #expect(failure.description.utf8.allSatisfy { 0x20...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C })
    }

    @Test func `A state that is too long is not sent back`() throws {
        let long = String(repeating: "s", count: AuthorizationRequest.stateBytesMax + 1)
        guard case .client(let failure, let target)? = Self.rejection([("state", long)]) else {
            Issue.record("accepted")
            return
        }
        #expect(failure.word == .invalidRequest && target.state == nil)
    }

    @Test func `A confidential client may have a nonce in place of a challenge`() throws {
        let without: [(String, String?)] = [
            ("client_id", "web"), ("code_challenge", nil), ("code_challenge_method", nil),
        ]
        #expect(try Self.read(without + [("nonce", "n")]).codeChallenge == nil)
        guard case .client? = Self.rejection(without) else {
            Issue.record("accepted with neither")
            return
        }
    }

    @Test func `A client gets the scopes that its entry allows`() throws {
        #expect(try Self.read([("client_id", "small"), ("scope", "openid email offline_access")]).scopes == [.openid])
    }

    @Test func `A sign-in counts by its age, and a demanded one must be newer than the request`() throws {
        let any = try Self.read()
        #expect(any.admits(0, Self.now))
        let minute = try Self.read([("max_age", "60")])
        #expect(minute.admits(Self.now - 60_000, Self.now))
        #expect(!minute.admits(Self.now - 60_001, Self.now))
        // The user took long on the provider's page.
        #expect(minute.admits(Self.now + 10_000, Self.now + 300_000))
        for changes in [[("prompt", "login")], [("prompt", "select_account")], [("max_age", "0")]] {
            let request = try Self.read(changes.map { ($0.0, $0.1) })
            #expect(!request.admits(Self.now - 1, Self.now))
            #expect(request.admits(Self.now, Self.now + 100_000))
        }
    }

    @Test func `A sign-in of before counts by how it was proven, and one for the request in any case`() throws {
        let passkey = "urn:vestibule:acr:passkey"
        for (values, good) in [
            (passkey, [AuthenticationContext.passkey]), ("urn:vestibule:acr:provider", [.provider, .passkey]),
            ("urn:example:other \(passkey)", [.passkey]),
            ("urn:vestibule:acr:provider \(passkey)", [.provider, .passkey]),
            // Nothing that we know: a wish that can't be granted asks nothing of the user.
            ("urn:example:other", AuthenticationContext.allCases),
        ] {
            let request = try Self.read([("acr_values", values)])
            for context in AuthenticationContext.allCases {
                let isGood = good.contains(context)
                #expect(request.admits(Self.now - 1, Self.now, context) == isGood, "\(values) \(context)")
                #expect(request.admits(Self.now, Self.now + 5_000, context))
            }
        }
        let recent = try Self.read([("acr_values", passkey), ("max_age", "60")])
        #expect(recent.admits(Self.now - 60_000, Self.now, .passkey))
        #expect(!recent.admits(Self.now - 60_001, Self.now, .passkey))
    }

    @Test func `A sealed request comes back as it was, for its use and its time alone`() throws {
        let keys = AuthorizationRequestKeys(try #require(RefreshKeys([SecureRandom.bytes(32)])))
        let others = AuthorizationRequestKeys(try #require(RefreshKeys([SecureRandom.bytes(32)])))
        let request = try Self.read([
            ("nonce", "n"), ("max_age", "7"), ("prompt", "none"), ("idp", "apple"),
            ("acr_values", "urn:vestibule:acr:passkey"),
        ])
        let text = try #require(keys.seal(request, for: .page))
        #expect(keys.open(text, for: .page, nowMilliseconds: Self.now) == request)
        #expect(keys.open(text, for: .pushed, nowMilliseconds: Self.now) == nil)
        #expect(others.open(text, for: .page, nowMilliseconds: Self.now) == nil)
        let end = Self.now + AuthorizationRequestKeys.lifetimeSeconds * 1000
        #expect(keys.open(text, for: .page, nowMilliseconds: end - 1) != nil)
        #expect(keys.open(text, for: .page, nowMilliseconds: end) == nil)
        let pushed = try #require(keys.seal(request, for: .pushed))
        let pushedEnd = Self.now + AuthorizationRequestKeys.pushedSeconds * 1000
        #expect(keys.open(pushed, for: .pushed, nowMilliseconds: pushedEnd - 1) == request)
        #expect(keys.open(pushed, for: .pushed, nowMilliseconds: pushedEnd) == nil)
        for broken in [
            "", "var1_", String(text.dropLast()), text + "A", "var1_" + String(repeating: "A", count: 4_000),
        ] {
            #expect(keys.open(broken, for: .page, nowMilliseconds: Self.now) == nil)
        }
    }

    @Test func `A request with the longest values fits, unless several are that long`() throws {
        let keys = AuthorizationRequestKeys(try #require(RefreshKeys([SecureRandom.bytes(32)])))
        let long = try Self.read([
            ("state", String(repeating: "s", count: AuthorizationRequest.stateBytesMax)),
            ("nonce", String(repeating: "n", count: AuthorizationRequest.nonceBytesMax)),
        ])
        #expect(keys.seal(long, for: .page) != nil)
        let escaped = try Self.read([
            ("state", String(repeating: "\u{1}", count: AuthorizationRequest.stateBytesMax))
        ])
        #expect(keys.seal(escaped, for: .page) == nil)
    }
}

extension AuthorizationRequest {
    fileprivate func admits(
        _ signInAtMilliseconds: Int64,
        _ nowMilliseconds: Int64,
        _ context: AuthenticationContext = .provider
    ) -> Bool {
        admits(signInAtMilliseconds: signInAtMilliseconds, context: context, nowMilliseconds: nowMilliseconds)
    }
}
