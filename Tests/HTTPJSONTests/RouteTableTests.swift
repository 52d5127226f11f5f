import HTTPTypes
import Testing

@testable import HTTPJSON

struct RouteTableTests {
    private static let routes = [
        route(.get, "/"), route(.get, "/things"), route(.post, "/things"), route(.get, "/things/{id}"),
        route(.post, "/things/new"), route(.delete, "/things/{id}/parts/{part}"), route(.get, "/things/new/sizes"),
        route(.get, "/.well-known/keys"), route(.head, "/only-head"), route(.get, "/things"),
    ]

    private static func route(_ method: HTTPRequest.Method, _ path: String) -> Route {
        Route(method, path) { _, _ in Response(status: .ok) }
    }

    private let table = RouteTable(RouteTableTests.routes)

    private func match(_ path: String) -> RouteTable.Match? {
        var path = path
        return path.withUTF8(table.match)
    }

    /// The place of the route that answers, and what stands in the places of its variables.
    private func look(_ method: HTTPRequest.Method, _ path: String) -> (route: Int?, values: [String])? {
        guard let match = match(path) else { return nil }
        let bytes = Array(path.utf8)
        return (
            table.endpoints[match.endpoint].route(method),
            match.values.map { String(decoding: bytes[$0], as: UTF8.self) }
        )
    }

    @Test(
        arguments: [
            (HTTPRequest.Method.get, "/", 0, []), (.get, "/things", 1, []), (.post, "/things", 2, []),
            (.get, "/things/7", 3, ["7"]), (.get, "/things/%2520", 3, ["%2520"]), (.post, "/things/new", 4, []),
            (.delete, "/things/7/parts/a.b", 5, ["7", "a.b"]), (.get, "/things/new/sizes", 6, []),
            (.get, "/.well-known/keys", 7, []), (.head, "/things", 1, []), (.head, "/only-head", 8, []),
            // The word leads nowhere here, so the variable answers.
            (.delete, "/things/new/parts/1", 5, ["new", "1"]),
        ] as [(HTTPRequest.Method, String, Int, [String])]
    )
    func `A path finds its route`(method: HTTPRequest.Method, path: String, route: Int, values: [String]) throws {
        let found = try #require(look(method, path))
        #expect(found.route == route && found.values == values)
    }

    @Test(arguments: [
        "", "things", "//", "//things", "/things/", "/things//", "/thing", "/thingss", "/things/7/", "/things/7/parts",
        "/things//parts/1", "/things/7/parts/1/2", "/.well-known", "*", "/Things",
    ])
    func `Another path finds none`(path: String) {
        #expect(match(path) == nil)
    }

    @Test func `A path knows its methods`() throws {
        func methods(_ path: String) throws -> [String] { table.endpoints[try #require(match(path)).endpoint].methods }
        #expect(try methods("/things") == ["GET", "HEAD", "POST"])
        #expect(try methods("/things/7") == ["GET", "HEAD"])
        #expect(try methods("/things/new") == ["POST"], "the word's, not the variable's")
        #expect(try methods("/only-head") == ["HEAD"])
        #expect(try #require(look(.get, "/things/new")).route == nil)
        #expect(try #require(look(.options, "/things")).route == nil)
    }

    @Test func `Variables have names`() {
        #expect(RouteTable.variables(of: "/things/{id}/parts/{part}") == ["id", "part"])
        #expect(RouteTable.variables(of: "/things").isEmpty)
    }
}
