import RPCTransport

/// An address that a program can't have, with the key that names it and the program that has it.
struct ListenFault: Error, CustomStringConvertible {
    let description: String

    /// Nil for an error that isn't about the address that the program listens on.
    init?(_ error: any Error, program: String, address: HostPort?) {
        guard case .addressInUse? = error as? TransportError, let address else { return nil }
        let key = "\(ConfigurationNames.prefix)\(program.uppercased())_LISTEN"
        description = "cannot listen on \(address): \(Self.taken(address)). \(key) names another address"
    }

    /// Why an address can't be had that another socket has.
    static func taken(_ address: HostPort) -> String {
        let holder = PortHolder.name(ofPort: address.port).map { " by \($0)" } ?? ""
        return "it is in use\(holder)"
    }
}
