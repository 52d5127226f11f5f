import ArgumentParser
import FoundationEssentials
import IdentityService
import ServiceCommands
import ServiceKit

/// `identity providers`: the providers file.
struct Providers: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add providers, trying their credentials, and list and check them.",
        discussion: """
            They are entries of a JSON file, which VESTIBULE_IDENTITY_PROVIDERS_FILE names. A change is judged as \
            identity judges the file at its start, and then replaces the file as a whole: after an error, or an end in \
            the midst of it, the file is as it was. Other entries stay as they are.
            """,
        subcommands: [Add.self, List.self, Check.self]
    )

    /// Where the file is.
    struct Place: ParsableArguments {
        @Option(
            help: ArgumentHelp("The providers file. (default: VESTIBULE_IDENTITY_PROVIDERS_FILE)", valueName: "path")
        )
        var file: String?
        @OptionGroup var configuration: ConfigurationFileOption

        func run(
            _ command: String,
            _ work: (ProvidersCommand) async throws(CommandError) -> CommandOutcome
        ) async {
            await CommandOutput.print("identity providers \(command)") { () async throws(CommandError) in
                try await work(
                    ProvidersCommand(
                        path: file,
                        configurationPath: configuration.path,
                        environment: ProcessInfo.processInfo.environment
                    )
                )
            }
        }
    }

    /// The options that all providers have.
    struct Options: ParsableArguments {
        @Option(
            help: ArgumentHelp(
                "Another member of the provider, its value as JSON or a text; can be repeated.",
                valueName: "member=value"
            )
        )
        var set: [String] = []
        @Flag(help: "Write it without asking the provider.")
        var offline = false
        @Flag(help: "Replace the provider of that name as a whole, with all its apps.")
        var replace = false
        @OptionGroup var place: Place

        func add(_ kind: ProviderKind, _ fill: (inout CommandAnswers) -> Void) async {
            var answers = CommandAnswers()
            answers.set("set", set)
            fill(&answers)
            let known = answers
            await place.run("add \(kind.rawValue)") { command async throws(CommandError) in
                try await command.add(
                    kind,
                    known,
                    replaces: replace,
                    isOffline: offline,
                    prompt: TerminalPrompt()
                )
            }
        }
    }

    /// `add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add apple, google, facebook or oidc, and try its credentials.",
            discussion: """
                In a terminal it asks for what is missing; else it says what is missing, and exits with 64. Then it \
                fetches the provider's keys, and sends it a made-up code or token with the credentials, and once more \
                with a wrong secret: the answers show whether the credentials are right. It prints what they showed, and \
                writes nothing if they are wrong, or if the provider doesn't answer.

                vestibule providers add apple --bundle-id com.acme.app \\
                  --services-id com.acme.web --team-id ACME000001 \\
                  --key-id ACMEKEY001 --private-key-file secrets/apple.p8

                vestibule providers add oidc keycloak --client-id app \\
                  --issuer https://keycloak.acme.org/realms/app \\
                  --client-secret-file secrets/keycloak
                """,
            subcommands: [Apple.self, Google.self, Facebook.self, OIDC.self]
        )
    }

    /// `list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Print the providers in a table.")

        @OptionGroup var place: Place

        func run() async { await place.run("list") { command throws(CommandError) in try command.list() } }
    }

    /// `check`.
    struct Check: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Check the file, and try the credentials in it.",
            discussion: """
                Prints what the file comes to and what the providers answered, or all faults together. The exit code is \
                0 if identity would start with it and no provider refuses its credentials, else 1.
                """
        )

        @Flag(help: "Don't ask the providers.")
        var offline = false
        @OptionGroup var place: Place

        func run() async {
            await place.run("check") { command async throws(CommandError) in
                try await command.check(isOffline: offline)
            }
        }
    }
}

extension Providers.Add {
    /// `add apple`.
    struct Apple: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add Sign in with Apple.",
            discussion: """
                Team id and key id are in Apple's developer account: under Membership, and under Keys for a key with \
                Sign in with Apple, whose file (.p8) can be downloaded once.
                """
        )

        @Option(help: ArgumentHelp("The bundle id of an app; can be repeated.", valueName: "id"))
        var bundleId: [String] = []
        @Option(help: ArgumentHelp("A Services ID, for browsers and Android; can be repeated.", valueName: "id"))
        var servicesId: [String] = []
        @Option(help: ArgumentHelp("The developer team.", valueName: "id"))
        var teamId: String?
        @Option(help: ArgumentHelp("The key of the team.", valueName: "id"))
        var keyId: String?
        @Option(help: ArgumentHelp("The file of that key (.p8).", valueName: "path"))
        var privateKeyFile: String?
        @OptionGroup var options: Providers.Options

        func run() async {
            await options.add(.apple) { answers in
                answers.set("bundle-id", bundleId)
                answers.set("services-id", servicesId)
                answers["team-id"] = teamId
                answers["key-id"] = keyId
                answers["private-key-file"] = privateKeyFile
            }
        }
    }

    /// `add google`.
    struct Google: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add Google.",
            discussion: "The clients are in the Google Cloud console, under Credentials, as OAuth client IDs."
        )

        @Option(help: ArgumentHelp("The client id of a web application.", valueName: "id"))
        var webClientId: String?
        @Option(help: ArgumentHelp("A file with its client secret, in one line.", valueName: "path"))
        var clientSecretFile: String?
        @Option(help: ArgumentHelp("The client id of an iOS or Android app; can be repeated.", valueName: "id"))
        var nativeClientId: [String] = []
        @OptionGroup var options: Providers.Options

        func run() async {
            await options.add(.google) { answers in
                answers["web-client-id"] = webClientId
                answers["client-secret-file"] = clientSecretFile
                answers.set("native-client-id", nativeClientId)
            }
        }
    }

    /// `add facebook`.
    struct Facebook: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add Facebook, whose access tokens sign in.",
            discussion: "App id and app secret are in Meta's app dashboard, under Settings, Basic."
        )

        @Option(help: ArgumentHelp("The app.", valueName: "id"))
        var appId: String?
        @Option(help: ArgumentHelp("A file with its app secret, in one line.", valueName: "path"))
        var appSecretFile: String?
        @OptionGroup var options: Providers.Options

        func run() async {
            await options.add(.facebook) { answers in
                answers["app-id"] = appId
                answers["app-secret-file"] = appSecretFile
            }
        }
    }

    /// `add oidc`.
    struct OIDC: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "oidc",
            abstract: "Add any other OpenID provider, by its discovery document.",
            discussion: """
                The document (the issuer and /.well-known/openid-configuration) is read once, now: URLs and algorithms \
                that it names go into the file, and identity trusts the file. With --offline give them by --set: \
                keys_url, token_url, authorization_url, algorithms.
                """
        )

        @Argument(help: "The provider's name here, by which apps call it.")
        var name: String?
        @Option(help: ArgumentHelp("The issuer.", valueName: "url"))
        var issuer: String?
        @Option(help: ArgumentHelp("Our client there.", valueName: "id"))
        var clientId: String?
        @Option(
            help: ArgumentHelp(
                "A file with the client's secret, in one line; none for a public one.",
                valueName: "path"
            )
        )
        var clientSecretFile: String?
        @OptionGroup var options: Providers.Options

        func run() async {
            await options.add(.oidc) { answers in
                answers["NAME"] = name
                answers["issuer"] = issuer
                answers["client-id"] = clientId
                answers["client-secret-file"] = clientSecretFile
            }
        }
    }
}
