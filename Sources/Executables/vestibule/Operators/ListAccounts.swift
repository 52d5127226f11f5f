import API
import ArgumentParser
import Foundation
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List accounts, newest first.",
            discussion: """
                A line for each account: when it was created, its id and number, its providers, and what is particular. \
                Times are days or UTC times: 2026-11-28 or 2026-11-28T09:00:00Z. The audit log records that accounts \
                were listed.
                """
        )

        @Option(help: ArgumentHelp("Only accounts that this provider opens.", valueName: "name"))
        var provider: String?
        @Flag(inversion: .prefixedNo, help: "Only blocked accounts, or only others.")
        var blocked: Bool?
        @Flag(inversion: .prefixedNo, help: "Only imported accounts, or only others.")
        var imported: Bool?
        @Flag(inversion: .prefixedNo, help: "Only guests' accounts, or only others.")
        var guest: Bool?
        @Option(help: ArgumentHelp("Only accounts that were created then or later.", valueName: "time"))
        var since: AccountTime?
        @Option(help: ArgumentHelp("Only accounts that were created before.", valueName: "time"))
        var until: AccountTime?
        @Option(help: ArgumentHelp("The maximum of accounts.", valueName: "count"))
        var limit = 50
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        /// The maximum of accounts in one response.
        private static let pageSizeMax = 200

        func validate() throws {
            guard limit >= 1 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            var (left, token) = (limit, "")
            repeat {
                let request = request(Int32(min(left, Self.pageSizeMax)), token)
                let page = await place.call("list") { client, options in
                    try await client.listAccounts(request, options: options)
                }
                for account in page.accounts { print(place.json ? try account.json() : account.line) }
                left -= page.accounts.count
                token = page.nextPageToken
            } while !token.isEmpty && left > 0
        }

        private func request(_ size: Int32, _ token: String) -> OperatorV1.ListAccountsRequest {
            .with {
                ($0.pageSize, $0.pageToken, $0.provider) = (size, token, provider ?? "")
                if let blocked { $0.isBlocked = blocked }
                if let imported { $0.isImported = imported }
                if let guest { $0.isGuest = guest }
                ($0.createdFromMs, $0.createdBeforeMs) = (since?.milliseconds ?? 0, until?.milliseconds ?? 0)
            }
        }
    }

    /// `vestibule account sessions`.
    struct AccountSessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List the sessions of an account, the one used last first.",
            discussion: """
                Also those that ended, while they are kept; at most 100. No address of a device is kept. The audit log \
                records that they were listed.
                """
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            let answer = await place.call("sessions") { [id] client, options in
                try await client.listSessions(.with { $0.userID = id.text }, options: options)
            }
            for session in answer.sessions { print(place.json ? try session.json() : session.line) }
            if answer.isIncomplete { Program.end("there are more", code: 0) }
        }
    }

    /// `vestibule account groups`.
    struct Groups: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the groups of an account, the newest first.",
            discussion: "At most 100. The audit log records that they were listed."
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            let answer = await place.call("groups") { [id] client, options in
                try await client.listGroups(.with { $0.userID = id.text }, options: options)
            }
            for group in answer.groups { print(place.json ? try group.json() : group.line) }
            if answer.isIncomplete { Program.end("there are more", code: 0) }
        }
    }
}

/// A time of an option: a day, which begins at 00:00 UTC, or a time of RFC 3339.
struct AccountTime: ExpressibleByArgument {
    /// Unix milliseconds.
    let milliseconds: Int64

    init?(argument: String) {
        let day = Date.ISO8601FormatStyle().year().month().day()
        guard let date = (try? day.parse(argument)) ?? (try? Date.ISO8601FormatStyle().parse(argument)) else {
            return nil
        }
        milliseconds = Int64(date.timeIntervalSince1970 * 1000)
    }
}
