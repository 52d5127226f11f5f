import ArgumentParser
import FoundationEssentials
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity end-sessions`: ends all sessions, those begun before a time, or those of an account.
struct EndSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End all sessions, those begun before a time, or those of one account.",
        discussion: """
            A restored database, or a standby that took over without the last changes, accepts what is no longer \
            valid: sessions that users had ended, refresh tokens that had been exchanged, provider tokens that had \
            been used. This command ends all current sessions, or with --before those begun before a time, and \
            rejects provider tokens that were issued before it. All users have to sign in again; no account is lost. \
            With --account it ends the sessions of one account and changes nothing else.

            It takes effect on all replicas: for refreshes immediately, for checks within a second. It reads the \
            configuration of `serve` and connects as its role. Services that check access tokens by CheckSession \
            reject them; services that only verify them by the published keys accept them until they expire. Without \
            --confirm nothing is changed, and the exit code is 1.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "End all sessions; the default.")
    var all = false
    @Option(help: ArgumentHelp("End those begun before a time, such as 2026-11-22T01:00:53Z.", valueName: "time"))
    var before: Moment?
    @Option(help: ArgumentHelp("End the sessions of one account.", valueName: "id"))
    var account: AccountID?
    @Flag(help: "Do it. It can't be undone.")
    var confirm = false

    func validate() throws {
        if (all ? 1 : 0) + (before == nil ? 0 : 1) + (account == nil ? 0 : 1) > 1 {
            throw ValidationError("use only one of --all, --before and --account")
        }
    }

    private var which: IdentityServer.SessionSelection {
        if let before { return .begunBefore(milliseconds: before.milliseconds) }
        if let account { return .account(account.text) }
        return .all
    }

    func run() async {
        await Program.run(IdentityServer.self, configurationPath: file.path) { server in
            print(try await server.endSessions(which, isConfirmed: confirm))
        }
    }
}

/// Parses a time of RFC 3339, with or without fractions of a second.
struct Moment: ExpressibleByArgument {
    let milliseconds: Int64

    init?(argument: String) {
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? Date(argument, strategy: $0) }).first else { return nil }
        milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
    }
}
