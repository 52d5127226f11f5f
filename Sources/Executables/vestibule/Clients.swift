import ArgumentParser
import LocalStack
import ServiceKit

/// `vestibule clients`: runs `identity clients`, since identity judges the file.
struct Clients: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list, check and remove apps that sign users in by OpenID Connect.",
        discussion: """
            Runs `identity clients` of the program beside this one (or in the folder that \(StackKeys.programs.name) \
            names), with identity's configuration. `vestibule clients add --help` lists the options.
            """,
        subcommands: [Add.self, List.self, Check.self, Remove.self, AddSecret.self, RemoveSecret.self]
    )

    struct Add: IdentityPassThrough {
        static let words = ["clients", "add"]
        static let configuration = CommandConfiguration(abstract: "Add an app, and print its id and its secret.")

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct List: IdentityPassThrough {
        static let words = ["clients", "list"]
        static let configuration = CommandConfiguration(
            abstract: "Print the apps in a table; never a secret or its hash."
        )

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct Check: IdentityPassThrough {
        static let words = ["clients", "check"]
        static let configuration = CommandConfiguration(abstract: "Check the file, and print what it comes to.")

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct Remove: IdentityPassThrough {
        static let words = ["clients", "remove"]
        static let configuration = CommandConfiguration(abstract: "Remove an app from the file.")

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct AddSecret: IdentityPassThrough {
        static let words = ["clients", "add-secret"]
        static let configuration = CommandConfiguration(
            commandName: "add-secret",
            abstract: "Give an app another secret, and print it; the former one stays valid."
        )

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct RemoveSecret: IdentityPassThrough {
        static let words = ["clients", "remove-secret"]
        static let configuration = CommandConfiguration(
            commandName: "remove-secret",
            abstract: "Remove the oldest secret of an app that has several."
        )

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }
}
