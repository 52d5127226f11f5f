import ArgumentParser
import LocalStack
import ServiceKit

/// `vestibule providers`: runs `identity providers`, since identity judges the file.
struct Providers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add providers, trying their credentials, and list and check them.",
        discussion: """
            Runs `identity providers` of the program beside this one (or in the folder that \(StackKeys.programs.name) \
            names), with identity's configuration. `vestibule providers add apple --help` lists the options.
            """,
        subcommands: [Add.self, List.self, Check.self]
    )

    struct Add: IdentityPassThrough {
        static let words = ["providers", "add"]
        static let configuration = CommandConfiguration(
            abstract: "Add apple, google, facebook or oidc, and try its credentials."
        )

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct List: IdentityPassThrough {
        static let words = ["providers", "list"]
        static let configuration = CommandConfiguration(abstract: "Print the providers in a table.")

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }

    struct Check: IdentityPassThrough {
        static let words = ["providers", "check"]
        static let configuration = CommandConfiguration(abstract: "Check the file, and try the credentials in it.")

        @Argument(parsing: .captureForPassthrough) var arguments: [String] = []
    }
}
