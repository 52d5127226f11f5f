import ArgumentParser
import FoundationEssentials
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity clients`: the file of the apps that sign users in by OpenID Connect.
struct Clients: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list, check and remove apps that sign users in by OpenID Connect.",
        discussion: """
            They are entries of a JSON file, which VESTIBULE_IDENTITY_CLIENTS_FILE names. A change is judged as identity \
            judges the file at its start, and then replaces the file as a whole: after an error, or an end in the midst \
            of it, the file is as it was. Other entries, and members that have no option here, stay as they are.
            """,
        subcommands: [Add.self, List.self, Check.self, Remove.self, AddSecret.self, RemoveSecret.self]
    )

    /// Where the file is.
    struct Place: ParsableArguments {
        @Option(help: ArgumentHelp("The clients file. (default: VESTIBULE_IDENTITY_CLIENTS_FILE)", valueName: "path"))
        var file: String?
        @OptionGroup var configuration: ConfigurationFileOption

        func run(
            _ command: String,
            _ work: (ClientsCommand) throws(CommandError) -> CommandOutcome
        ) {
            CommandOutput.print("identity clients \(command)") { () throws(CommandError) in
                try work(
                    ClientsCommand(
                        path: file,
                        configurationPath: configuration.path,
                        environment: ProcessInfo.processInfo.environment
                    )
                )
            }
        }
    }

    /// `add`.
    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an app, and print its id and its secret.",
            discussion: """
                In a terminal it asks for what is missing; else it says what is missing, and exits with 64. A secret is \
                made here and printed once; the file gets its SHA-256 only.

                vestibule clients add shop-web --name Shop --secret \\
                  --redirect-uri https://shop.example.com/callback

                vestibule clients add shop-app --name Shop --public \\
                  --redirect-uri com.example.shop:/callback \\
                  --scopes "openid profile offline_access" --set access_token_seconds=300
                """
        )

        @Argument(help: ArgumentHelp("The client_id: letters, digits and -._~", valueName: "id"))
        var id: String?
        @Option(help: "The name that users see on the sign-in page.")
        var name: String?
        @Flag(help: "It can't keep a secret: an app on a phone or a desktop, a page in a browser.")
        var `public` = false
        @Flag(help: "It runs on a server and has a secret.")
        var secret = false
        @Option(help: ArgumentHelp("Where browsers bring the code; can be repeated.", valueName: "uri"))
        var redirectUri: [String] = []
        @Option(help: ArgumentHelp("Where browsers may go after signing out; can be repeated.", valueName: "uri"))
        var postLogoutRedirectUri: [String] = []
        @Option(help: "The scopes that it may be granted, separated by spaces; all by default.")
        var scopes: String?
        @Option(
            help: ArgumentHelp(
                "Another member of the entry, its value as JSON or a text; can be repeated.",
                valueName: "member=value"
            )
        )
        var set: [String] = []
        @Flag(help: "Replace the client of that id as a whole, with a new secret.")
        var replace = false
        @OptionGroup var place: Place

        func validate() throws {
            if `public`, secret { throw ValidationError("--public and --secret contradict each other") }
        }

        func run() {
            var answers = CommandAnswers()
            answers["ID"] = id
            answers["name"] = name
            answers["kind"] = secret ? "secret" : `public` ? "public" : nil
            answers.set("redirect-uri", redirectUri)
            answers.set("post-logout-redirect-uri", postLogoutRedirectUri)
            answers["scopes"] = scopes
            answers.set("set", set)
            place.run("add") { command throws(CommandError) in
                try command.add(answers, replaces: replace, prompt: TerminalPrompt())
            }
        }
    }

    /// `list`.
    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the apps in a table; never a secret or its hash."
        )

        @OptionGroup var place: Place

        func run() { place.run("list") { command throws(CommandError) in try command.list() } }
    }

    /// `check`.
    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the file, and print what it comes to.",
            discussion: "Prints all faults together. The exit code is 0 if identity would start with it, else 1."
        )

        @OptionGroup var place: Place

        func run() { place.run("check") { command throws(CommandError) in try command.check() } }
    }

    /// `remove`.
    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Remove an app from the file.")

        @Argument(help: ArgumentHelp("The client_id.", valueName: "id"))
        var id: String
        @OptionGroup var place: Place

        func run() { place.run("remove") { command throws(CommandError) in try command.remove(id) } }
    }

    /// `add-secret`.
    struct AddSecret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add-secret",
            abstract: "Give an app another secret, and print it; the former one stays valid.",
            discussion: "Give the app the new secret, and then remove the former one by remove-secret."
        )

        @Argument(help: ArgumentHelp("The client_id.", valueName: "id"))
        var id: String
        @OptionGroup var place: Place

        func run() { place.run("add-secret") { command throws(CommandError) in try command.addSecret(id) } }
    }

    /// `remove-secret`.
    struct RemoveSecret: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-secret",
            abstract: "Remove the oldest secret of an app that has several."
        )

        @Argument(help: ArgumentHelp("The client_id.", valueName: "id"))
        var id: String
        @OptionGroup var place: Place

        func run() { place.run("remove-secret") { command throws(CommandError) in try command.removeSecret(id) } }
    }
}
