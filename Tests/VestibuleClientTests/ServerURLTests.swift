import Foundation
import Testing

@testable import VestibuleClient

struct ServerURLTests {
    @Test(arguments: [
        ("https://api.example.com", "https://api.example.com"), ("HTTPS://API.Example.com/", "https://api.example.com"),
        ("https://api.example.com:443//", "https://api.example.com"), ("http://127.0.0.1:80", "http://127.0.0.1"),
        ("https://api.example.com:8443", "https://api.example.com:8443"),
        ("https://Example.com/Auth/?a=b#c", "https://example.com/Auth"),
    ])
    func `A URL is one however it is written`(text: String, base: String) throws {
        #expect(ServerURL.base(try #require(URL(string: text))) == base)
        #expect(ServerURL.key(try #require(URL(string: text))) == ServerURL.key(try #require(URL(string: base))))
    }

    @Test func `Other servers have other keys, which are good for files`() throws {
        let path = String(repeating: "a/", count: 500)
        let keys = try ["https://a.example", "https://a.example/b", "https://a.example:1", "https://a.example/\(path)"]
            .map {
                ServerURL.key(try #require(URL(string: $0)))
            }
        #expect(Set(keys).count == keys.count)
        #expect(keys.allSatisfy { $0.count < 64 && $0.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" } })
    }

    @Test func `Tokens go by https, or stay on the machine`() throws {
        func isAllowed(_ text: String) throws -> Bool { ServerURL.isAllowed(try #require(URL(string: text))) }
        for text in [
            "https://a.example", "http://localhost:8080", "HTTP://LOCALHOST", "http://127.0.0.1", "http://127.1.2.3:1",
            "http://[::1]:8080", "http://10.0.2.2:8080",
        ] { #expect(try isAllowed(text)) }
        for text in [
            "http://a.example", "http://127.0.0.1.a.example", "http://127.a.example.b", "http://192.168.0.1",
            "ftp://localhost",
            "localhost", "https:", "/path",
        ] { #expect(try !isAllowed(text)) }
    }
}
