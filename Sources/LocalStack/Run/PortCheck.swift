import Glibc
import ServiceKit

/// Checks before the start whether the programs can listen on their addresses, and which process uses a taken one.
enum PortCheck {
    /// Throws one line with the first taken address, and the process that uses it if that can be found out.
    static func requireFree(_ address: HostPort, for program: String, key: String) throws {
        switch ListenTrial(address) {
        case .free: return
        case .noHost: throw StackError("\(program) cannot listen on \(address): no such host (\(key))")
        case .refused(let code):
            throw StackError("\(program) cannot listen on \(address): \(String(cString: strerror(code))) (\(key))")
        case .taken(let holder):
            let held = holder.map { ", held by \($0)" } ?? ""
            throw StackError(
                "port \(address.port) is taken\(held); \(program) needs it, or set \(key) to another address"
            )
        }
    }
}
