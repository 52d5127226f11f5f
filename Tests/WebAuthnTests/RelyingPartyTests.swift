import Testing
import WebAuthn

struct RelyingPartyTests {
    private static func make(_ id: String, _ origins: [String]) throws(RelyingPartyError) -> RelyingParty {
        try RelyingParty(id: id, origins: origins, userVerification: .required)
    }

    @Test(arguments: [
        "example.com", "a.b", "localhost", "xn--bcher-kva.example", "1.example", "a-b.c3", "login.localhost",
        String(repeating: "a", count: 63) + ".example",
    ])
    func `A domain in lower case is an id`(id: String) throws {
        #expect(try Self.make(id, ["https://example.com"]).id == id)
    }

    @Test(arguments: [
        "", ".", "com", "Example.com", "example.com.", ".example.com", "a..b", "-a.example", "a-.example",
        "a_b.example",
        "b\u{fc}cher.example", "https://example.com", "example.com:443", "example.com/", "192.168.0.1", "1.2", "a.1",
        "[::1]", "*.example.com", " example.com", "example.com\n", "LOCALHOST",
        String(repeating: "a", count: 64) + ".b",
        String(repeating: "a.", count: 127) + "bc", "\u{212a}.example",
    ])
    func `What is no domain is no id`(id: String) {
        #expect(throws: RelyingPartyError.idIsNoDomain(id)) { try Self.make(id, ["https://example.com"]) }
    }

    @Test(arguments: [
        "https://app.example.com", "https://www.other.example", "https://example.com:8443", "https://example.com:80",
        "https://localhost", "http://localhost", "http://localhost:8080", "https://localhost:1",
        "http://localhost:65535",
        "https://xn--bcher-kva.example", Example.app,
    ])
    func `Origins are taken as clients write them`(origin: String) throws {
        #expect(try Self.make("example.com", [origin]).origins == [origin])
    }

    @Test(
        arguments: [
            ("", OriginError.unknownScheme), ("null", .unknownScheme), ("example.com", .unknownScheme),
            ("HTTPS://example.com", .unknownScheme), ("ftp://example.com", .unknownScheme),
            ("ios:bundle-id:a.b", .unknownScheme),
            (" https://example.com", .unknownScheme), ("http://example.com", .insecure),
            ("http://login.localhost", .insecure),
            ("https://example.com/", .trailingSlash), ("https://example.com:8443/", .trailingSlash),
            ("https://example.com/a", .hasPath), ("https://example.com//", .hasPath),
            ("https://example.com?a", .hasPath),
            ("https://example.com#a", .hasPath), ("https://Example.com", .uppercaseHost),
            ("https://example.com:443", .defaultPort), ("http://localhost:80", .defaultPort),
            ("https://example.com:0", .invalidPort), ("https://example.com:", .invalidPort),
            ("https://example.com:0443", .invalidPort), ("https://example.com:65536", .invalidPort),
            ("https://example.com:+80", .invalidPort), ("https://example.com:80:80", .invalidPort),
            ("https://", .invalidHost),
            ("https://*.example.com", .invalidHost), ("https://a@example.com", .invalidHost),
            ("https://10.0.0.1", .invalidHost),
            ("https://[::1]", .invalidHost), ("https://example", .invalidHost), ("https://example.com.", .invalidHost),
            ("https://\u{301}example.com", .invalidHost), ("https://b\u{fc}cher.example", .invalidHost),
            ("https://example.com ", .invalidHost), ("android:apk-key-hash:", .invalidKeyHash),
            ("android:apk-key-hash:AAAA", .invalidKeyHash), ("\(Example.app)=", .invalidKeyHash),
            ("\(Example.app.dropLast())J", .invalidKeyHash), ("\(Example.app.dropLast())", .invalidKeyHash),
            ("android:apk-key-hash-sha256:\(Example.app.suffix(43))", .unknownScheme),
        ] as [(String, OriginError)]
    )
    func `An origin that no client writes is named with its fault`(origin: String, error: OriginError) {
        #expect(throws: RelyingPartyError.origin(origin, error)) {
            try Self.make("example.com", ["https://example.com", origin])
        }
    }

    @Test func `There are 1 to 64 origins`() throws {
        let origins = (1...65).map { "https://example.com:\(8000 + $0)" }
        #expect(try Self.make("example.com", Array(origins.prefix(64))).origins.count == 64)
        #expect(throws: RelyingPartyError.tooManyOrigins(65)) { try Self.make("example.com", origins) }
        #expect(throws: RelyingPartyError.noOrigins) { try Self.make("example.com", []) }
    }
}
