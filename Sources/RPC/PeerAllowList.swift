import SwiftProtobuf

/// Lets a call through if a rule lets a name in the caller's certificate call its method. All other calls get
/// PERMISSION_DENIED, among them all calls without a certificate.
///
/// The names are those that the transport found in the certificate that the peer proved to own (`PeerInfo`), so it needs
/// mutual TLS. They are compared as they stand, with no wildcards inside of them.
public struct PeerAllowList: ServerInterceptor, Hashable {
    /// Rules that a list may have.
    public static let rulesMax = 1024

    /// One rule.
    public struct Rule: Sendable, Hashable {
        /// A DNS or URI name of a certificate, or `*` for every caller that has a certificate.
        public var peer: String
        /// A method `package.Service/Method`, all of a service `package.Service/*`, or `*` for every method.
        public var method: String

        /// Lets that peer call that method.
        public init(peer: String, method: String) {
            self.peer = peer
            self.method = method
        }
    }

    /// What is wrong with a list of rules, as a clause.
    public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
        /// The clause.
        public let description: String
    }

    /// Who may call, by method in the form of rules.
    private var peers: [String: Set<String>] = [:]

    /// A list of rules; with none, nobody may call anything.
    public init(_ rules: [Rule]) {
        for rule in rules { peers[rule.method, default: []].insert(rule.peer) }
    }

    /// Reads rules, one a line or with semicolons between: a name, spaces, a method. Lines that begin with `#` and empty
    /// ones are passed over.
    public init(parsing text: String) throws(Fault) {
        var rules: [Rule] = []
        let lines = text.split(omittingEmptySubsequences: false) { $0.isNewline }
        for (index, line) in lines.enumerated() {
            guard line.first(where: { $0 != " " && $0 != "\t" }) != "#" else { continue }
            for piece in line.split(separator: ";") {
                let words = piece.split { $0 == " " || $0 == "\t" }
                if words.isEmpty { continue }
                guard words.count == 2, Self.isMethod(words[1]) else {
                    let shown = String(piece.prefix(80).map { $0.isASCII && ($0.asciiValue ?? 0) >= 0x20 ? $0 : "?" })
                    throw Fault(
                        description:
                            "line \(index + 1) has \"\(shown)\", which is not a name and package.Service/Method, …/* or *"
                    )
                }
                rules.append(Rule(peer: String(words[0]), method: String(words[1])))
            }
        }
        guard !rules.isEmpty else { throw Fault(description: "there is no rule") }
        guard rules.count <= Self.rulesMax else {
            throw Fault(description: "there are more than \(Self.rulesMax) rules")
        }
        self.init(rules)
    }

    private static func isMethod(_ text: Substring) -> Bool {
        if text == "*" { return true }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty } && !parts[0].contains("*")
            && (parts[1] == "*" || !parts[1].contains("*"))
    }

    /// Whether a peer whose certificate has these names may call a method.
    public func allows(_ names: [String], _ method: MethodDescriptor) -> Bool {
        guard !names.isEmpty else { return false }
        return ["\(method.service)/\(method.method)", "\(method.service)/*", "*"].contains { form in
            guard let allowed = peers[form] else { return false }
            return allowed.contains("*") || names.contains { allowed.contains($0) }
        }
    }

    private func check(_ context: ServerContext) throws {
        guard allows(context.peer.certificateNames, context.method) else {
            throw RPCError(.permissionDenied, "the caller's certificate does not allow this method")
        }
    }

    /// Refuses the call or hands it on.
    public func intercept<Request: SwiftProtobuf.Message, Response: SwiftProtobuf.Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        try check(context)
        return try await next(request, context)
    }

    /// Refuses the call or hands it on.
    public func interceptStream(_ context: ServerContext, next: @Sendable () async throws -> Void) async throws {
        try check(context)
        try await next()
    }
}
