import API
import ArgumentParser
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account open`.
    struct Open: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open an imported account that no user can sign in to.",
            discussion: """
                It merges another account of the same user, given by --for, into the imported account: from then on \
                that account's providers sign in to the imported account, and that account is deleted. It must be \
                empty. This can't be undone.

                Without --confirm it prints what would happen, changes nothing, and exits with 1.
                """
        )

        @Argument(help: "The imported account's id.")
        var id: AccountID
        @Option(
            name: .customLong("for"),
            help: ArgumentHelp("The account that its user has signed in to.", valueName: "id")
        )
        var claimant: AccountID
        @Flag(help: "Do it.")
        var confirm = false
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            let answer = await place.call("open") { [id, claimant, confirm] client, options in
                try await client.openAccount(
                    .with { ($0.userID, $0.forUserID, $0.validateOnly) = (id.text, claimant.text, !confirm) },
                    options: options
                )
            }
            let providers = answer.providers.map(\.printable).joined(separator: ", ")
            guard confirm || answer.wasOpen else {
                Program.end(
                    "vestibule account open: account \(id.text) would be signed in to by \(providers), and account \(claimant.text) "
                        + "would be gone, if it is empty. Nothing was changed; --confirm does it",
                    code: 1
                )
            }
            if place.json { return print(try answer.json()) }
            print(answer.wasOpen ? "it was opened before" : "opened", terminator: "; ")
            print("\(providers) signs in to it")
        }
    }
}
