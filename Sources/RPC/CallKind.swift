/// How many messages a call carries in each direction.
public enum CallKind: Sendable, Hashable {
    case unary
    case clientStreaming
    case serverStreaming
    case bidirectionalStreaming
}
