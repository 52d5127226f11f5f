import API
import ArgumentParser
import Foundation
import ServiceCommands
import ServiceKit
import SwiftProtobuf

extension Account {
    /// `vestibule account find`.
    struct Find: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Find accounts by id, phone number, e-mail, username, name, device, or provider.",
            discussion: """
                Prints each matching account, at most 16. Exits with 1 if there is none. The audit log records the \
                search and the operator; the output is personal data.

                --username, --name and --device ignore the case of letters. --name is the beginning of the display \
                name. --device is a session's id, or the whole name of a device as the app gave it.
                """
        )

        @Argument(help: "An account's id, a phone number such as +639171234567, or an e-mail.")
        var who: AccountName?
        @OptionGroup(title: "By something else") var key: AccountSearchKey
        @Option(help: ArgumentHelp("Why, for the audit log: letters a to z and underscores.", valueName: "word"))
        var reason: String?
        @OptionGroup(title: "Where identity is") var place: OperatorPlace

        func validate() throws {
            guard (who == nil ? 0 : 1) + key.given.count == 1 else {
                throw ValidationError(
                    "name one account, or one of --username, --name, --device, --provider, --imported"
                )
            }
            try key.check()
        }

        func run() async throws {
            let answer = await place.call("find") { [who, key, reason] client, options in
                try await client.findAccount(
                    .with {
                        $0.by = who?.finding ?? key.given.first
                        $0.reason = reason ?? ""
                    },
                    options: options
                )
            }
            if place.json {
                for account in answer.accounts { print(try account.json()) }
                let terms = answer.auditTerms.joined(separator: " ")
                FileHandle.standardError.write(Data("in the audit log, the term is \(terms)\n".utf8))
            } else {
                print(answer.accounts.map { $0.lines.joined(separator: "\n") }.joined(separator: "\n\n"))
            }
            if answer.isIncomplete {
                Program.end("there may be more: name one by its id or number, or more of the name", code: 0)
            }
            if answer.accounts.isEmpty { Program.end("vestibule account find: there is no such account", code: 1) }
        }
    }
}

/// The options that name an account by something else than its id, number or e-mail.
struct AccountSearchKey: ParsableArguments {
    @Option(help: ArgumentHelp("Its username.", valueName: "name"))
    var username: String?
    @Option(help: ArgumentHelp("The beginning of its display name.", valueName: "text"))
    var name: String?
    @Option(help: ArgumentHelp("A session's id, or the name of a device.", valueName: "device"))
    var device: String?
    @Option(help: ArgumentHelp("The provider's name for its user.", valueName: "provider:subject"))
    var provider: String?
    @Option(help: ArgumentHelp("Its id at the backend that it was imported from.", valueName: "source:id"))
    var imported: String?

    /// What was given, as identity's keys.
    var given: [OperatorV1.FindAccountRequest.OneOf_By] {
        var keys: [OperatorV1.FindAccountRequest.OneOf_By] = []
        if let username { keys.append(.username(username)) }
        if let name { keys.append(.namePrefix(name)) }
        if let device { keys.append(AccountID(argument: device).map { .sessionID($0.text) } ?? .deviceName(device)) }
        if let provider {
            let parts = Self.halves(provider)
            keys.append(.providerIdentity(.with { ($0.provider, $0.subject) = parts }))
        }
        if let imported { keys.append(.importedID(imported)) }
        return keys
    }

    /// - Throws: a sentence about what can't be a key.
    func check() throws {
        guard imported?.contains(":") != false else {
            throw ValidationError("--imported must be source:id, such as firebase:Yh3Xk9")
        }
        guard provider.map({ !Self.halves($0).0.isEmpty && !Self.halves($0).1.isEmpty }) != false else {
            throw ValidationError("--provider must be provider:subject, such as apple:001234.5678.90")
        }
    }

    private static func halves(_ text: String) -> (String, String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (parts[0], parts.count == 2 ? parts[1] : "")
    }
}
