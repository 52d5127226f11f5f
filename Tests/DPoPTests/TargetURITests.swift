import DPoP
import Testing

struct TargetURITests {
    @Test(arguments: [
        "", "https", "https:", "https:/", "https:///v1", "https://", "//api.example.org/", "/v1/me", "api.example.org",
        "ftp://api.example.org/", "wss://api.example.org/", " https://api.example.org/", "https ://api.example.org/",
        "https://a@api.example.org/", "https://a:b@api.example.org/", "https://api.example.org:x/",
        "https://api.example.org:0/", "https://api.example.org:0443/", "https://api.example.org:65536/",
        "https://api.example.org:+443/", "https://api.example.org:443:443/", "https://api%2eexample.org/",
        "https://b\u{fc}cher.example/", "https://api example.org/", "https://api.example.org\\v1/me",
        "https://[::1/", "https://[]/", "https://[::g]/", "https://[::1]x/", "https://[fe80::1%25eth0]/",
        "https://api.example.org/a b", "https://api.example.org/\u{e9}", "https://api.example.org/%",
        "https://a.example/%4",
        "https://a.example/%4g", "https://a.example/%%41", "https://a.example/a\\b", "https://a.example/<",
        "https://a.example/\"", "https://a.example/{a}", "https://a.example/^", "https://a.example/|",
        "https://a.example/`",
        "https://a.example/[", "https://a.example/\0", "https://a.example/\u{7f}", "https://a.example/\n",
        "\u{17f}https://a.example/", "http\u{17f}://a.example/", "https\u{301}://a.example/",
        "https://\u{212a}.example/",
        "https://" + String(repeating: "a", count: 254), "https://a.example/" + String(repeating: "a", count: 2048),
    ])
    func `What is no URI of a request has no value`(text: String) {
        #expect(TargetURI(text) == nil)
    }

    @Test func `The public address takes the path of a request`() throws {
        let address = try #require(TargetURI("https://API.example.org"))
        #expect(address.appending("/v1/me?a=/../b#c") == TargetURI("https://api.example.org:443/v1/me"))
        #expect(address.appending("/") == address)
        #expect(address.appending("/?a") == address)
        #expect(address.appending("//v1") == TargetURI("https://api.example.org//v1"))
        #expect(address.appending("//v1") != address.appending("/v1"))
        // A host in the path is a path.
        #expect(address.appending("//evil.example/") == TargetURI("https://api.example.org//evil.example/"))
        #expect(address.appending("/%7e/%2F/x/../") == TargetURI("https://api.example.org/~/%2f/"))
    }

    @Test(arguments: ["", "*", "v1/me", "https://api.example.org/v1/me", "?a", "/v1/\u{e9}", "/a b", "/%", "/%zz"])
    func `A request target that is no path has no URI`(text: String) throws {
        #expect(try #require(TargetURI("https://api.example.org")).appending(text) == nil)
    }

    @Test(arguments: ["https://example.org/api", "https://example.org/api/"])
    func `A path of the public address comes before that of the request`(text: String) throws {
        let address = try #require(TargetURI(text))
        #expect(address.appending("/v1/me") == TargetURI("https://example.org/api/v1/me"))
        #expect(address.appending("/") == TargetURI("https://example.org/api/"))
        // Nothing leads out of it.
        #expect(address.appending("/../v1/me") == TargetURI("https://example.org/api/v1/me"))
        #expect(address.appending("/%2e%2e/v1/me") == TargetURI("https://example.org/api/v1/me"))
    }

    @Test func `A colon without a port means the default`() {
        #expect(TargetURI("https://a.example:/") == TargetURI("https://a.example"))
        #expect(TargetURI("https://a.example:65535/") != TargetURI("https://a.example"))
    }
}
