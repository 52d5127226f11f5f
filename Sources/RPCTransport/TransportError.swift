import CRPC
import Glibc

/// Why something of the transport could not be made or used.
public enum TransportError: Error, Sendable, Hashable, CustomStringConvertible {
    /// No memory.
    case memory
    /// A system call failed with this errno.
    case system(Int32, String)
    /// The address is taken by another socket; the text says which.
    case addressInUse(String)
    /// A certificate, key or list of authorities cannot be used; the text says which and why.
    case tls(String)
    /// An argument is not acceptable.
    case argument(String)
    /// The object has ended.
    case closed
    /// `run()` was called a second time. A service runs once.
    case alreadyRun

    /// Throws what an error code of the C layer means.
    static func check(_ code: Int32, _ what: String = "") throws(TransportError) {
        switch crpc_error(code) {
        case CRPC_OK: return
        case CRPC_ERROR_MEMORY: throw .memory
        case CRPC_ERROR_SYSTEM: throw .system(errno, what)
        case CRPC_ERROR_ADDRESS_IN_USE: throw .addressInUse(what)
        case CRPC_ERROR_TLS: throw .tls(what)
        case CRPC_ERROR_CLOSED: throw .closed
        default: throw .argument(what.isEmpty ? String(cString: crpc_error_text(code)) : what)
        }
    }

    /// The error in words.
    public var description: String {
        switch self {
        case .memory: "out of memory"
        case .system(let number, let what): "\(what): \(String(cString: strerror(number)))"
        case .addressInUse(let what): "\(what): Address already in use"
        case .tls(let reason): "TLS: \(reason)"
        case .argument(let what): "not acceptable: \(what)"
        case .closed: "closed"
        case .alreadyRun: "run() was called twice; a service runs once"
        }
    }
}
