import API
import ArgumentParser
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account find`.
    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find accounts by id, phone number, e-mail, or the id that another backend had.",
            discussion: """
                Prints each matching account. Exits with 1 if there is none. The audit log records the search and \
                the operator; the output is personal data.
                """
        )

        @Argument(help: "An account's id, a phone number such as +639171234567, or an e-mail.")
        var who: AccountName?
        @Option(
            help: ArgumentHelp("Its id at the backend that it was imported from.", valueName: "source:id")
        )
        var imported: String?
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func validate() throws {
            guard (who == nil) != (imported == nil) else {
                throw ValidationError("name one account, or --imported source:id")
            }
            guard imported?.contains(":") != false else {
                throw ValidationError("--imported must be source:id, such as firebase:Yh3Xk9")
            }
        }

        func run() async throws {
            let answer = await place.call("find") { [who, imported] client, options in
                let key = imported.map { OperatorV1.FindAccountRequest.OneOf_By.importedID($0) } ?? who?.finding
                return try await client.findAccount(.with { $0.by = key }, options: options)
            }
            if place.json {
                for account in answer.accounts { print(try account.json()) }
            } else {
                print(answer.accounts.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n\n"))
            }
            if answer.isIncomplete { Program.end("there are more: name one by its id or number", code: 0) }
            if answer.accounts.isEmpty { Program.end("vestibule account find: there is no such account", code: 1) }
        }
    }

    /// `vestibule account events`.
    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the audit log of an account, newest first.",
            discussion: """
                A line for each event: time, kind, session, and details. It works for deleted accounts too. The \
                audit log records that it was read.
                """
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @Option(help: ArgumentHelp("The maximum of events.", valueName: "count"))
        var limit = 50
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        /// The maximum of events in one response.
        private static let pageSizeMax = 200

        func validate() throws {
            guard limit >= 1 else { throw ValidationError("--limit must be 1 or more") }
        }

        func run() async throws {
            var (left, token) = (limit, "")
            repeat {
                let request = OperatorV1.ListSecurityEventsRequest.with {
                    ($0.userID, $0.pageSize, $0.pageToken) = (id.text, Int32(min(left, Self.pageSizeMax)), token)
                }
                let page = await place.call("events") { client, options in
                    try await client.listSecurityEvents(request, options: options)
                }
                for event in page.events { print(place.json ? try event.json() : event.line) }
                left -= page.events.count
                token = page.nextPageToken
            } while !token.isEmpty && left > 0
        }
    }
}
