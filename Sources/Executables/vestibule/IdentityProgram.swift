import FoundationEssentials
import Glibc
import LocalStack
import ServiceCommands
import ServiceKit

/// The program `identity`, which alone has its configuration and its database.
enum IdentityProgram {
    /// Puts it in the place of this program. It is the one beside this, or in the folder that the configuration names.
    ///
    /// - Parameters:
    ///   - arguments: what it is started with.
    ///   - command: how this program's command is called, for the message if it can't be started.
    ///   - container: what does the same where each program has a container.
    static func become(_ arguments: [String], of command: String, inContainers container: String) -> Never {
        let configured = ProcessInfo.processInfo.environment[StackKeys.programs.name].flatMap { $0.isEmpty ? nil : $0 }
        do {
            let program = try ProgramFolder.path(configured: configured) + "/identity"
            // The new program takes the place of this one, so nothing has to be freed.
            execv(program, ([program] + arguments).map { strdup($0) } + [nil])
            let cause = String(cString: strerror(errno))
            Program.end("\(command): \(program) cannot be started: \(cause). In containers: \(container)", code: 1)
        } catch {
            Program.end(error, program: command)
        }
    }
}
