/// How a running program is asked whether it can be used.
public enum HealthQuestion: Sendable, Hashable {
    /// By `grpc.health.v1.Health/Check`, with TLS if it speaks that.
    case grpc
    /// By an HTTP path that is answered with 200.
    case http(path: String)
}
