import Glibc
import IdentityService
import ServiceKit

/// Prints what a command on a file came to, and ends the process: 0 if it was done, 64 (`EX_USAGE`) if the command line lacks
/// something, else 1.
enum CommandOutput {
    static func print(_ name: String, _ work: () throws(CommandError) -> CommandOutcome) -> Never {
        do throws(CommandError) {
            show(try work(), name)
        } catch {
            fail(error, name)
        }
    }

    static func print(_ name: String, _ work: () async throws(CommandError) -> CommandOutcome) async -> Never {
        do throws(CommandError) {
            show(try await work(), name)
        } catch {
            fail(error, name)
        }
    }

    private static func show(_ outcome: CommandOutcome, _ name: String) -> Never {
        for line in outcome.output { Swift.print(line.printable) }
        // A secret that is printed once must not be lost in silence.
        guard fflush(nil) == 0 else {
            let cause = String(cString: strerror(errno))
            Program.end("\(name): it was done, but standard output can't be written: \(cause)", code: 1)
        }
        Program.end(outcome.remarks.isEmpty ? nil : lines(outcome.remarks, name), code: 0)
    }

    private static func fail(_ error: CommandError, _ name: String) -> Never {
        Program.end(lines(error.lines, name), code: error.isUsage ? EX_USAGE : 1)
    }

    private static func lines(_ lines: [String], _ name: String) -> String {
        lines.map { "\(name): \($0.printable)" }.joined(separator: "\n")
    }
}
