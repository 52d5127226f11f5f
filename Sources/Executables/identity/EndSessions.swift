import ArgumentParser
import FoundationEssentials
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity end-sessions`: ends all sessions, those from before a time, or those of an account.
struct EndSessions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "End sessions: all of everybody, those from before a time, or those of one account.",
        discussion: """
            A database that was restored, or a standby that took over without having everything, believes what was over: \
            sessions that people had ended, refresh tokens that had been exchanged, provider tokens that had been used. \
            This command ends all sessions that were begun before it, or with --before those that were begun before a time, \
            and refuses provider tokens that were issued before it. Everybody signs in again; no account is lost. With \
            --account it ends the sessions of one account and changes nothing else.

            It takes effect on all replicas: for refreshes immediately, for checks within a second. It reads the configuration of \
            `serve` and connects as its role. Services that check access tokens by CheckSession reject them; services that only \
            verify them by the published keys accept them until they expire. Without --confirm nothing is changed, and the exit \
            code is 1.
            """
    )

    @OptionGroup var file: ConfigurationFileOption
    @Flag(help: "End all sessions; so it is without --before and --account, too.")
    var all = false
    @Option(help: ArgumentHelp("End those begun before a time, such as 2026-11-22T01:00:53Z.", valueName: "time"))
    var before: Moment?
    @Option(help: ArgumentHelp("End those of one account.", valueName: "id"))
    var account: AccountID?
    @Flag(help: "Do it. There is no way back.")
    var confirm = false

    func validate() throws {
        if (all ? 1 : 0) + (before == nil ? 0 : 1) + (account == nil ? 0 : 1) > 1 {
            throw ValidationError("--all, --before and --account exclude one another")
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

/// A moment as RFC 3339 writes it, with or without fractions of a second.
struct Moment: ExpressibleByArgument {
    let milliseconds: Int64

    init?(argument: String) {
        let styles = [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)]
        guard let date = styles.lazy.compactMap({ try? Date(argument, strategy: $0) }).first else { return nil }
        milliseconds = Int64((date.timeIntervalSince1970 * 1000).rounded(.down))
    }
}
