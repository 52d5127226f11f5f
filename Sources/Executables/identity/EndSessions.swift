import ArgumentParser
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity end-sessions`: ends all sessions.
struct EndSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End all sessions of everybody, on all replicas at once; needed after a restore or a failover.",
        discussion: """
            A database that was restored, or a standby that took over without having everything, believes what was over: \
            sessions that people had ended, refresh tokens that had been exchanged, provider tokens that had been used. \
            This command ends all sessions that were begun before it, and refuses provider tokens that were issued before \
            it. Everybody signs in again; no account is lost.

            It reads the configuration of `serve` and connects as its role. Access tokens are good for nothing at once \
            wherever they are checked by CheckSession; whoever verifies them by the published keys alone takes them until \
            they expire. Without --confirm nothing is changed, and the exit code is 1.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "Do it. There is no way back.")
    var confirm = false

    func run() async {
        await Program.run(IdentityServer.self, configurationPath: file.path) { server in
            print(try await server.endSessions(isConfirmed: confirm))
        }
    }
}
