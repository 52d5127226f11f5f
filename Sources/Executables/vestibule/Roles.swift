import ArgumentParser
import Deployment
import ServiceCommands
import ServiceKit

/// Makes the database's roles.
struct Roles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make the database, and in it a role and a schema for each service; run it before their migrations.",
        discussion: ConfigurationHelp.text(DatabaseRoles.configurationKeys)
    )

    @OptionGroup var file: ConfigurationFileOption

    func run() async {
        let program = "roles"
        do {
            let roles = DatabaseRoles(
                configuration: Program.configuration(
                    keys: DatabaseRoles.configurationKeys,
                    program: program,
                    path: file.path
                )
            )
            print("roles: \(try await roles.make().joined(separator: ", "))")
        } catch {
            Program.end(error, program: "vestibule \(program)")
        }
        Program.end(nil, code: 0)
    }
}
