import HTTPTypes

/// Which route answers a path and a method. A tree of segments, built once; looking up copies nothing of the path.
///
/// Where a path fits two routes, it is the one with a word in the place of the other's variable that answers.
struct RouteTable: Sendable {
    /// A path that some routes have.
    struct Endpoint: Sendable {
        /// Its routes: the method, and the route's place among all.
        fileprivate(set) var routes: [(method: HTTPRequest.Method, index: Int)] = []
        /// What it answers 405 with: the methods, sorted, with HEAD beside GET.
        fileprivate(set) var methods: [String] = []
        /// Those of routes that pages of other origins may call.
        fileprivate(set) var methodsForOtherOrigins: [String] = []

        /// The place of the route that answers a method; HEAD is answered by GET's.
        func route(_ method: HTTPRequest.Method) -> Int? {
            for route in routes where route.method == method { return route.index }
            guard method == .head else { return nil }
            for route in routes where route.method == .get { return route.index }
            return nil
        }

        fileprivate mutating func add(_ route: Route, index: Int) {
            // The first of two with one method, as in any list.
            guard !routes.contains(where: { $0.method == route.method }) else { return }
            routes.append((route.method, index))
            methods = Self.adding(route.method, to: methods)
            if route.isForOtherOrigins {
                methodsForOtherOrigins = Self.adding(route.method, to: methodsForOtherOrigins)
            }
        }

        private static func adding(_ method: HTTPRequest.Method, to methods: [String]) -> [String] {
            var all = Set(methods)
            all.insert(method.rawValue)
            if method == .get { all.insert(HTTPRequest.Method.head.rawValue) }
            return all.sorted()
        }
    }

    /// What fits a path.
    struct Match: Sendable {
        /// The place of the endpoint among all.
        let endpoint: Int
        /// Where in the path the values of the variables stand, in offsets of UTF-8.
        let values: [Range<Int>]
    }

    private struct Node: Sendable {
        var words: [(word: [UInt8], next: Int)] = []
        var variable: Int?
        var endpoint: Int?
    }

    private static let slash = UInt8(ascii: "/")

    private var nodes = [Node()]
    /// Every endpoint.
    private(set) var endpoints: [Endpoint] = []

    /// A table of routes.
    init(_ routes: [Route]) {
        for (index, route) in routes.enumerated() {
            let node = node(of: route.path)
            let endpoint = nodes[node].endpoint ?? endpoints.count
            if endpoint == endpoints.count { endpoints.append(Endpoint()) }
            nodes[node].endpoint = endpoint
            endpoints[endpoint].add(route, index: index)
        }
    }

    /// The names of a path's variables, in their order.
    static func variables(of path: String) -> [String] {
        path.split(separator: "/").filter { $0.first == "{" }.map { String($0.dropFirst().dropLast()) }
    }

    /// The node of a declared path, which is made where it is missing.
    private mutating func node(of path: String) -> Int {
        var node = 0
        for segment in path.split(separator: "/") {
            let next: Int?
            if segment.first == "{" {
                next = nodes[node].variable
                if next == nil { nodes[node].variable = nodes.count }
            } else {
                let word = Array(segment.utf8)
                next = nodes[node].words.first { $0.word == word }?.next
                if next == nil { nodes[node].words.append((word, nodes.count)) }
            }
            if next == nil { nodes.append(Node()) }
            node = next ?? nodes.count - 1
        }
        return node
    }

    /// What fits a path that begins with a slash; nil if nothing does.
    func match(_ path: UnsafeBufferPointer<UInt8>) -> Match? {
        guard path.first == Self.slash else { return nil }
        if path.count == 1 { return nodes[0].endpoint.map { Match(endpoint: $0, values: []) } }
        var values: [Range<Int>] = []
        guard let endpoint = find(path, from: 0, node: 0, &values) else { return nil }
        return Match(endpoint: endpoint, values: values)
    }

    /// The place of the route that answers a method on a path; HEAD is answered by GET's.
    func route(of match: Match, _ method: HTTPRequest.Method) -> Int? { endpoints[match.endpoint].route(method) }

    /// Goes on at a slash. As deep as the longest declared path.
    private func find(
        _ path: UnsafeBufferPointer<UInt8>,
        from start: Int,
        node: Int,
        _ values: inout [Range<Int>]
    ) -> Int? {
        guard start < path.count else { return nodes[node].endpoint }
        let first = start + 1
        var end = first
        while end < path.count, path[end] != Self.slash { end += 1 }
        guard end > first else { return nil }
        let segment = UnsafeBufferPointer(rebasing: path[first..<end])
        for (word, next) in nodes[node].words where word.count == segment.count && word.elementsEqual(segment) {
            if let endpoint = find(path, from: end, node: next, &values) { return endpoint }
        }
        guard let next = nodes[node].variable else { return nil }
        values.append(first..<end)
        if let endpoint = find(path, from: end, node: next, &values) { return endpoint }
        values.removeLast()
        return nil
    }
}
