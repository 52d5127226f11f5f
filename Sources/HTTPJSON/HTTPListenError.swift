import Glibc
import RPCTransport

/// A server that could not have its address: one line for the person who started it.
public struct HTTPListenError: Error, CustomStringConvertible {
    /// The line.
    public let description: String

    /// Nil for an error that is not about the address, and for an address that can't be had, which the program names with its key.
    init?(host: String, port: Int, _ error: TransportError) {
        let number: Int32
        switch error {
        case .system(EACCES, _), .system(EADDRNOTAVAIL, _): return nil
        case .system(let code, _): number = code
        case .addressInUse, .memory, .tls, .argument, .closed, .alreadyRun: return nil
        }
        self.init(host: host, port: port, String(cString: strerror(number)))
    }

    init(host: String, port: Int, _ reason: String) {
        let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        description = "cannot listen on \(address): \(reason)"
    }
}
