import API
import ArgumentParser
import ServiceCommands
import SwiftProtobuf

extension Account {
    /// `vestibule account disputes`.
    struct Disputes: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the phone numbers that two accounts have proven, oldest first.",
            discussion: """
                The account that has the number keeps it until `release-phone` takes it away. Then its true owner \
                proves it again: by the next sign-in with the provider, or by an assertion of the app's backend.

                The audit log records this request.
                """
        )

        @Option(help: ArgumentHelp("The maximum of disputes; 1 to 1000.", valueName: "count"))
        var limit = 100
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func validate() throws {
            guard 1...1_000 ~= limit else { throw ValidationError("--limit must be 1 to 1000") }
        }

        func run() async throws {
            let answer = await place.call("disputes") { [limit] client, options in
                try await client.listPhoneDisputes(.with { $0.pageSize = Int32(limit) }, options: options)
            }
            if place.json { return print(try answer.json()) }
            if answer.disputes.isEmpty { return print("nothing is disputed") }
            for dispute in answer.disputes { print(dispute.line) }
        }
    }
}
