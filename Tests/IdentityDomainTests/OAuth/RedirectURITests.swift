import IdentityDomain
import Testing

struct RedirectURITests {
    @Test(arguments: [
        "https://app.example.com/callback", "https://app.example.com:8443/callback?a=1", "https://app.example.com",
        "http://127.0.0.1/callback", "http://127.0.0.1:4711/callback", "http://[::1]/callback",
        "com.example.app:/callback", "com.example.app://callback",
    ])
    func `A redirect URI of https, of this machine or of an app's own scheme is accepted, and admits itself`(
        text: String
    ) throws {
        #expect(try RedirectURI(text).admits(text))
    }

    @Test(arguments: [
        ("", RedirectURI.Problem.malformed), ("https://", .malformed), ("https:/app.example.com", .malformed),
        ("https://app.example.com/a b", .malformed), ("https://app.example.com\\@evil.example", .malformed),
        ("https://app.example.com/\u{E9}", .malformed), ("https://app.example.com:99999/", .malformed),
        ("https://app.example.com:/", .malformed), ("HTTPS://app.example.com/", .malformed),
        ("https://app.example.com/#a", .fragment), ("https://user:pass@app.example.com/", .userInformation),
        ("https://app.example.com@evil.example/", .userInformation),
        ("http://localhost/callback", .clearText), ("http://app.example.com/callback", .clearText),
        ("http://127.0.0.1.example.com/", .clearText), ("http://127.0.0.2/", .clearText),
        ("javascript:alert(1)", .scheme), ("data:text/html,x", .scheme), ("file:///etc/passwd", .scheme),
        ("myapp://callback", .scheme), ("callback", .scheme), ("com.example.app:", .scheme), ("1.a://x", .scheme),
    ])
    func `Anything else is rejected with its reason`(text: String, problem: RedirectURI.Problem) {
        #expect(throws: problem) { try RedirectURI(text) }
    }

    @Test func `A URI longer than the limit is rejected`() throws {
        let base = "https://app.example.com/"
        let longest = base + String(repeating: "a", count: RedirectURI.bytesMax - base.utf8.count)
        #expect(try RedirectURI(longest).text == longest)
        #expect(throws: RedirectURI.Problem.malformed) { try RedirectURI(longest + "a") }
    }

    @Test func `A loopback URI admits each port, and nothing else that differs`() throws {
        let uri = try RedirectURI("http://127.0.0.1/callback")
        #expect(uri.admits("http://127.0.0.1:52100/callback"))
        for other in [
            "http://127.0.0.1:52100/callback/", "http://127.0.0.1:52100/callback?a=1", "http://[::1]:52100/callback",
            "http://localhost:52100/callback", "https://127.0.0.1:52100/callback", "http://127.0.0.1:70000/callback",
            "http://127.0.0.1:52100@evil.example/callback",
        ] {
            #expect(!uri.admits(other), "\(other)")
        }
    }

    @Test func `Characters that Unicode takes for the same are others in a URI`() throws {
        // The Kelvin sign for K, the Greek question mark for the semicolon.
        for (text, other) in [
            ("https://app.example.com/K", "https://app.example.com/\u{212A}"),
            ("com.example.app:/a;b", "com.example.app:/a\u{37E}b"),
            ("http://127.0.0.1/K", "http://127.0.0.1/\u{212A}"),
        ] {
            #expect(try RedirectURI(text).admits(text))
            #expect(try !RedirectURI(text).admits(other), "\(text)")
        }
    }

    @Test func `A URI of https admits no other port, path, query or host`() throws {
        let uri = try RedirectURI("https://app.example.com/callback")
        for other in [
            "https://app.example.com:8443/callback", "https://app.example.com/callback/",
            "https://app.example.com/callback?a=1",
            "https://app.example.com/Callback", "https://App.example.com/callback",
            "https://app.example.com/callback#a",
            "https://app.example.com.evil.example/callback", "https://app.example.com/x/../callback",
        ] {
            #expect(!uri.admits(other), "\(other)")
        }
    }
}
