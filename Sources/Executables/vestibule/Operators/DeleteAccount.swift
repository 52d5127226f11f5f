import API
import ArgumentParser
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account delete`.
    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an account permanently, in all services.",
            discussion: """
                Its sessions end immediately, its phone number and username are free, and the person is a new user at \
                the next sign-in: to keep somebody out, block the account instead. It can't be undone. To give the user \
                their data first: vestibule account export ID.

                Without --confirm it prints the account, changes nothing, and exits with 1.
                """
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @Flag(help: "Do it.")
        var confirm = false
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            guard confirm else {
                let account = await place.oneAccount(.id(id.text), "delete")
                let name = account.profile.displayName
                Program.end(
                    "vestibule account delete: account \(account.userID) of \(name.isEmpty ? "no name" : name.printable), with "
                        + "\(account.liveSessions) live sessions, would be deleted for good. "
                        + "Nothing was changed; --confirm does it",
                    code: 1
                )
            }
            let answer = await place.call("delete") { [id] client, options in
                try await client.deleteAccount(.with { $0.userID = id.text }, options: options)
            }
            if place.json { return print(try answer.json()) }
            print(answer.wasDeleted ? "it was deleted before" : "deleted")
            for provider in answer.consentsLeft {
                print("the user must withdraw the consent at \(provider.printable), since no token to do so was kept")
            }
        }
    }
}
