/// A service that can register its methods; generated code conforms to it.
public protocol RPCService: Sendable {
    /// Registers every method.
    func register(in router: inout Router)
}
