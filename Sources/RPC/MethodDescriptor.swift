/// A method as the proto declares it.
public struct MethodDescriptor: Sendable, Hashable {
    /// What copies share: each call has one, and copying three strings would count references three times.
    private final class Facts: Sendable {
        let service: String
        let method: String
        let kind: CallKind
        let isIdempotent: Bool
        let allowsGet: Bool
        let path: String
        let ordinal: Int

        init(service: String, method: String, kind: CallKind, isIdempotent: Bool, allowsGet: Bool) {
            self.service = service
            self.method = method
            self.kind = kind
            self.isIdempotent = isIdempotent
            self.allowsGet = allowsGet && kind == .unary
            path = "/\(service)/\(method)"
            ordinal = MethodOrdinals.ordinal(of: path)
        }
    }
    private let facts: Facts

    /// The full name of the service, such as `vestibule.identity.v1.IdentityService`.
    public var service: String { facts.service }
    /// The method's name, such as `SignIn`.
    public var method: String { facts.method }
    /// How many messages go each way.
    public var kind: CallKind { facts.kind }
    /// Whether calling it twice is as good as once, so that a client may try again on its own.
    public var isIdempotent: Bool { facts.isIdempotent }
    /// Whether it may be called by GET, with the request in the URL (Connect's "Unary-Get-Request"). URLs are kept in logs and
    /// caches, so no request with a token or an id belongs there.
    public var allowsGet: Bool { facts.allowsGet }
    /// The request's `:path`, `/service/method`.
    public var path: String { facts.path }
    /// A small number that stands for the path in this process: see `MethodOrdinals`.
    public var ordinal: Int { facts.ordinal }

    /// Describes a method.
    public init(
        service: String,
        method: String,
        kind: CallKind = .unary,
        isIdempotent: Bool = false,
        allowsGet: Bool = false
    ) {
        facts = Facts(
            service: service,
            method: method,
            kind: kind,
            isIdempotent: isIdempotent,
            allowsGet: allowsGet
        )
    }

    /// Whether they declare the same.
    public static func == (left: MethodDescriptor, right: MethodDescriptor) -> Bool {
        left.facts === right.facts
            || (left.service == right.service && left.method == right.method && left.kind == right.kind
                && left.isIdempotent == right.isIdempotent && left.allowsGet == right.allowsGet)
    }

    /// By the path, in which methods differ.
    public func hash(into hasher: inout Hasher) { hasher.combine(facts.path) }
}
