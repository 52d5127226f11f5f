import API
import ArgumentParser
import ServiceCommands
import SwiftProtobuf

extension Account {
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
