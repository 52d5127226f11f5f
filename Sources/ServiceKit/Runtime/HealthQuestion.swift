/// How a running program is asked whether it can be used.
public enum HealthQuestion: Sendable, Hashable {
    /// By `grpc.health.v1.Health/Check`, with TLS if it speaks that.
    case grpc
    /// By an HTTP path that is answered with 200, in clear text.
    case http(path: String)
    /// As ``http(path:)``; where the program's port, which is for everybody, speaks TLS, as ``grpc``.
    case edge(path: String)
}
