/// A method as the proto declares it.
public struct MethodDescriptor: Sendable, Hashable {
    /// The full name of the service, such as `vestibule.identity.v1.IdentityService`.
    public let service: String
    /// The method's name, such as `SignIn`.
    public let method: String
    /// How many messages go each way.
    public let kind: CallKind
    /// Whether calling it twice is as good as once, so that a client may try again on its own.
    public let isIdempotent: Bool
    /// Whether it may be called by GET, with the request in the URL (Connect's "Unary-Get-Request"). URLs are kept in logs and
    /// caches, so no request with a token or an id belongs there.
    public let allowsGet: Bool
    /// The request's `:path`, `/service/method`.
    public let path: String
    /// A small number that stands for the path in this process: see `MethodOrdinals`.
    public let ordinal: Int

    /// Describes a method.
    public init(
        service: String,
        method: String,
        kind: CallKind = .unary,
        isIdempotent: Bool = false,
        allowsGet: Bool = false
    ) {
        self.service = service
        self.method = method
        self.kind = kind
        self.isIdempotent = isIdempotent
        self.allowsGet = allowsGet && kind == .unary
        path = "/\(service)/\(method)"
        ordinal = MethodOrdinals.ordinal(of: path)
    }
}
