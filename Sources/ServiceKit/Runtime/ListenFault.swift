import Glibc
import RPCTransport

/// An address that a program can't have, with the key that names it and the program that has it.
struct ListenFault: Error, CustomStringConvertible {
    let description: String

    /// Nil for an error that isn't about the address that the program listens on.
    init?(_ error: any Error, program: String, address: HostPort?) {
        guard let error = error as? TransportError, let address else { return nil }
        let reason: String
        switch error {
        case .addressInUse: reason = Self.taken(address)
        case .system(let code, _) where Self.codes.contains(code): reason = String(cString: strerror(code))
        case .system, .memory, .tls, .argument, .closed, .alreadyRun: return nil
        }
        let key = "\(ConfigurationNames.prefix)\(program.uppercased())_LISTEN"
        description = "cannot listen on \(address): \(reason). \(key) names another address"
    }

    /// The system's answers to an address that isn't this machine's, or a port that only root may have.
    private static let codes = [EACCES, EADDRNOTAVAIL]

    /// Why an address can't be had that another socket has.
    static func taken(_ address: HostPort) -> String {
        let holder = PortHolder.name(ofPort: address.port).map { " by \($0)" } ?? ""
        return "it is in use\(holder)"
    }
}
