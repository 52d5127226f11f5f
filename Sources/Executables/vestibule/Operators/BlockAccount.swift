import API
import ArgumentParser
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account block`.
    struct Block: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Block an account, so that its user can't sign in.",
            discussion: """
                Its sessions end immediately, and every sign-in is rejected with ACCOUNT_BLOCKED until it is \
                unblocked. The account, its phone number and its memberships in groups stay.

                Without --confirm it prints what would happen, changes nothing, and exits with 1.
                """
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @Option(help: ArgumentHelp("The reason: letters a to z and underscores, 64 at most.", valueName: "word"))
        var reason: String
        @Flag(help: "Do it.")
        var confirm = false
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            guard confirm else {
                let account = await place.oneAccount(.id(id.text), "block")
                let state =
                    account.hasBlock ? "is blocked already, with the reason \(account.block.reason)" : "is not blocked"
                Program.end(
                    "vestibule account block: the account \(state); \(account.liveSessions) live sessions would be ended. "
                        + "Nothing was changed; --confirm does it",
                    code: 1
                )
            }
            let answer = await place.call("block") { [id, reason] client, options in
                try await client.blockAccount(
                    .with { ($0.userID, $0.reason) = (id.text, reason) },
                    options: options
                )
            }
            if place.json { return print(try answer.json()) }
            print(answer.wasBlocked ? "it was blocked before" : "blocked", terminator: "; ")
            print("ended \(answer.endedSessions) live sessions")
        }
    }

    /// `vestibule account unblock`.
    struct Unblock: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Unblock an account, so that its user can sign in again.",
            discussion: "Ended sessions stay ended."
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            let answer = await place.call("unblock") { [id] client, options in
                try await client.unblockAccount(.with { $0.userID = id.text }, options: options)
            }
            print(place.json ? try answer.json() : answer.wasBlocked ? "unblocked" : "it was not blocked")
        }
    }

    /// `vestibule account end-sessions`.
    struct EndSessions: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end-sessions",
            abstract: "End all sessions of an account.",
            discussion: "Its user can sign in again immediately; `block` prevents that."
        )

        @Argument(help: "The account's id.")
        var id: AccountID
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func run() async throws {
            let answer = await place.call("end-sessions") { [id] client, options in
                try await client.endSessions(.with { $0.userID = id.text }, options: options)
            }
            print(place.json ? try answer.json() : "ended \(answer.endedSessions) live sessions")
        }
    }

    /// `vestibule account release-phone`.
    struct ReleasePhone: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "release-phone",
            abstract: "Take a phone number from the account that has it.",
            discussion: """
                Any user may save the number immediately; the app asks the account's user for another one. The \
                account stays in its groups.

                Without --confirm it prints the account that has the number, changes nothing, and exits with 1.
                """
        )

        @Argument(help: "The number, such as +639171234567, or the id of the account that has it.")
        var who: AccountName
        @Flag(help: "Do it.")
        var confirm = false
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func validate() throws {
            guard who.releasing != nil else { throw ValidationError("a phone number or an account's id is required") }
        }

        func run() async throws {
            guard confirm else {
                let account = await place.oneAccount(who, "release-phone")
                let phone = account.profile.phoneNumber
                Program.end(
                    "vestibule account release-phone: account \(account.userID) "
                        + (phone.isEmpty
                            ? "has no number that is known now" : "would lose the number \(phone.printable)")
                        + ". Nothing was changed; --confirm does it",
                    code: 1
                )
            }
            let answer = await place.call("release-phone") { [who] client, options in
                try await client.releasePhone(.with { $0.by = who.releasing }, options: options)
            }
            if place.json { return print(try answer.json()) }
            print(
                answer.userID.isEmpty
                    ? "nobody has it" : "released \(answer.phoneNumber.printable) of account \(answer.userID)"
            )
        }
    }
}

extension OperatorPlace {
    /// The account of that name; ends the process if there is none.
    func oneAccount(_ who: AccountName, _ command: String) async -> OperatorV1.OperatorAccount {
        let answer = await call(command) { client, options in
            try await client.findAccount(.with { $0.by = who.finding }, options: options)
        }
        guard let account = answer.accounts.first else {
            Program.end("vestibule account \(command): there is no such account", code: 1)
        }
        return account
    }
}
