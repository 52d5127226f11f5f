import Glibc
import NIOCore

/// A server that could not have its address: one line for the person who started it.
public struct HTTPListenError: Error, CustomStringConvertible {
    /// The line.
    public let description: String

    init(host: String, port: Int, _ error: IOError) {
        let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        let reason = String(cString: strerror(error.errnoCode))
        description = "cannot listen on \(address): \(reason)"
    }
}
