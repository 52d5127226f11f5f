import IdentityDomain

/// The providers that a command adds, and what is to be known of each.
public enum ProviderKind: String, Sendable, CaseIterable {
    /// Sign in with Apple.
    case apple
    /// Google.
    case google
    /// Facebook, by access tokens.
    case facebook
    /// Any other OpenID provider, by its discovery document.
    case oidc

    /// What is to be known of it.
    var fields: [CommandField] {
        switch self {
        case .apple: Self.appleFields
        case .google: Self.googleFields
        case .facebook: Self.facebookFields
        case .oidc: Self.openIDFields
        }
    }

    /// The provider's name; nil if the operator gives it one.
    var name: String? { self == .oidc ? nil : rawValue }

    /// The options.
    enum Flag {
        static let name = "NAME"
        static let (teamID, keyID, privateKey) = ("team-id", "key-id", "private-key-file")
        static let (bundleID, servicesID) = ("bundle-id", "services-id")
        static let (webClientID, nativeClientID) = ("web-client-id", "native-client-id")
        static let (clientID, secret) = ("client-id", "client-secret-file")
        static let (appID, appSecret) = ("app-id", "app-secret-file")
        static let issuer = "issuer"
    }

    // The apps come first: the judge looks at keys and secrets as parts of an app.
    private static let appleFields = [
        CommandField(
            flag: Flag.bundleID,
            question: "Bundle id of an app, such as com.acme.app",
            marks: ["\"id\""],
            form: .texts,
        ),
        CommandField(
            flag: Flag.servicesID,
            question: "Services ID, for browsers and Android",
            marks: ["\"id\""],
            form: .texts,
            alternative: Flag.bundleID,
            isRequired: { !$0.has(Flag.bundleID) }
        ),
        CommandField(
            flag: Flag.teamID,
            question: "Team id, 10 capital letters and digits",
            marks: ["\"team_id\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.keyID,
            question: "Key id, of a key for Sign in with Apple",
            marks: ["\"key_id\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.privateKey,
            question: "File of that key (.p8)",
            marks: ["\"private_key_file\""],
            form: .file,
            isRequired: { _ in true }
        ),
    ]

    private static let googleFields = [
        CommandField(
            flag: Flag.webClientID,
            question: "Client id of a web application",
            marks: ["\"id\""]
        ),
        CommandField(
            flag: Flag.secret,
            question: "File with its client secret",
            marks: ["\"client_secret_file\""],
            form: .secretFile,
            isRequired: { $0.has(Flag.webClientID) },
            isAsked: { $0.has(Flag.webClientID) }
        ),
        CommandField(
            flag: Flag.nativeClientID,
            question: "Client id of an iOS or Android app",
            marks: ["\"id\""],
            form: .texts,
            alternative: Flag.webClientID,
            isRequired: { !$0.has(Flag.webClientID) }
        ),
    ]

    private static let facebookFields = [
        CommandField(
            flag: Flag.appID,
            question: "App id",
            marks: ["\"id\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.appSecret,
            question: "File with the app secret",
            marks: ["\"client_secret_file\""],
            form: .secretFile,
            isRequired: { _ in true }
        ),
    ]

    private static let openIDFields = [
        CommandField(
            flag: Flag.name,
            question: "Name, in lowercase letters, by which apps call the provider",
            marks: ["\"name\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.issuer,
            question: "Issuer, such as https://keycloak.example.com/realms/app",
            marks: ["\"issuers\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.clientID,
            question: "Client id",
            marks: ["\"id\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: Flag.secret,
            question: "File with the client secret",
            marks: ["\"client_secret_file\""],
            form: .secretFile
        ),
    ]
}
