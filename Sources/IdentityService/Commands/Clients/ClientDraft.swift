import IdentityDomain
import JOSE

/// A new entry of the clients file.
enum ClientDraft {
    static let (id, name, kind) = ("ID", "name", "kind")
    static let (redirectURI, postLogoutURI, scopes) = ("redirect-uri", "post-logout-redirect-uri", "scopes")
    static let (confidential, isPublic) = ("secret", "public")

    private static let allScopes = Set(OAuthScope.allCases).text

    /// What is to be known of a client.
    static let fields = [
        CommandField(
            flag: id,
            question: "Client id, such as shop-web",
            marks: ["\"id\"", "is an audience"],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: name,
            question: "Name, which users see on the sign-in page",
            marks: ["\"name\""],
            isRequired: { _ in true }
        ),
        CommandField(
            flag: kind,
            question: "Does it run on a server, where it can keep a secret",
            marks: ["\"secret_sha256\""],
            form: .yesOrNo(yes: confidential, no: isPublic),
            // A client with keys of its own proves itself by them.
            isRequired: { !hasKeys($0) },
            isAsked: { !hasKeys($0) }
        ),
        CommandField(
            flag: redirectURI,
            question: "Redirect URI, where browsers bring the code",
            marks: ["\"redirect_uris\""],
            form: .texts,
            isRequired: { _ in true }
        ),
        CommandField(
            flag: postLogoutURI,
            question: "URI where browsers may go after signing out",
            marks: ["\"post_logout_redirect_uris\""],
            form: .texts
        ),
        CommandField(flag: scopes, question: "Scopes", marks: ["\"scopes\""], usual: allScopes),
    ]

    private static func hasKeys(_ answers: CommandAnswers) -> Bool {
        answers.all(SetMembers.flag).contains { $0.hasPrefix("jwks=") }
    }

    /// The entry, as far as it is known.
    ///
    /// - Parameter secretHash: SHA-256 of its secret, in hexadecimal; for a client with a secret.
    static func entry(_ answers: CommandAnswers, secretHash: String) throws(CommandError) -> JSONObject {
        var entry = JSONObject()
        entry["id"] = answers[id].map { .string($0) }
        entry["name"] = answers[name].map { .string($0) }
        if answers[kind] == confidential { entry["secret_sha256"] = [.string(secretHash)] }
        entry["redirect_uris"] = array(answers.all(redirectURI))
        entry["post_logout_redirect_uris"] = array(answers.all(postLogoutURI))
        let scopes = answers.all(scopes).flatMap { $0.split { $0 == " " || $0 == "," }.map(String.init) }
        if scopes.joined(separator: " ") != allScopes { entry["scopes"] = array(scopes) }
        for member in try SetMembers.read(answers, id: "id") { entry[member.name] = member.value }
        return entry
    }

    private static func array(_ texts: [String]) -> JSONValue? {
        texts.isEmpty ? nil : .array(texts.map { .string($0) })
    }
}
