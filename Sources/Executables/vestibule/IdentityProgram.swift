import FoundationEssentials
import Glibc
import LocalStack
import ServiceCommands
import ServiceKit

/// The program `identity`: only it has its configuration and its database.
enum IdentityProgram {
    /// Replaces this process by it. The program is beside this one, or in the folder that the configuration names.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - command: the name of this program's command, for the error if it can't be started.
    ///   - container: the equivalent command for containers.
    static func become(_ arguments: [String], of command: String, inContainers container: String) -> Never {
        let configured = ProcessInfo.processInfo.environment[StackKeys.programs.name].flatMap { $0.isEmpty ? nil : $0 }
        do {
            let program = try ProgramFolder.path(configured: configured) + "/identity"
            // The new program replaces this one, so nothing has to be freed.
            execv(program, ([program] + arguments).map { strdup($0) } + [nil])
            let cause = String(cString: strerror(errno))
            Program.end("\(command): \(program) cannot be started: \(cause). In containers: \(container)", code: 1)
        } catch {
            Program.end(error, program: command)
        }
    }
}
