import HTTPClients
import HTTPJSON
import HTTPTypes
import Logging
import Testing
import WebPages

struct PageFileTests {
    private static func client(_ file: PageFile) -> HandlerClient {
        HandlerClient(
            RouteHandler(
                routes: [file.route],
                configuration: .init(limits: HTTPLimits()),
                logger: Logger(label: "test")
            )
        )
    }

    @Test func `A file is kept under the address with its hash, and asked for again under any other`() async throws {
        let file = PageFile("a.js", .script, Array("let a".utf8))
        #expect(file.path == "/pages/a.js" && file.address.hasPrefix("/pages/a.js?v="))
        let kept = try await Self.client(file).send(.get, file.address)
        #expect(kept.status == .ok && kept.text == "let a")
        #expect(kept.headers[.contentType] == "text/javascript; charset=utf-8")
        #expect(kept.headers[.cacheControl] == "public, max-age=31536000, immutable")
        for address in ["/pages/a.js", "/pages/a.js?v=old"] {
            let answer = try await Self.client(file).send(.get, address)
            #expect(answer.text == "let a" && answer.headers[.cacheControl] == "no-cache")
        }
    }

    @Test func `Other content has another address`() {
        let addresses = ["a {}", "b {}"].map { PageFile("a.css", .style, Array($0.utf8)).address }
        #expect(Set(addresses).count == 2)
    }
}
