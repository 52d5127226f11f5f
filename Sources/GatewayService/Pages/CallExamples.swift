import API
import RPC

/// A call that a shell can make, as ``MethodsPage`` shows it.
struct CallExample: Sendable {
    /// Path and query. `$NAME` stands for a variable of the shell.
    let target: String
    /// The method of HTTP; GET and POST go without saying in a line.
    var method = "GET"
    /// Further header fields.
    var headers: [String] = []
    /// The body, between apostrophes; `'$NAME'` stands for a variable of the shell.
    var body: String?
    /// What the body is.
    var bodyType = "application/json"
    /// Whether it needs an access token.
    var needsToken = false

    /// The line for a shell.
    ///
    /// - Parameter base: scheme, host and port of the gateway.
    func line(_ base: String) -> String {
        var parts = ["curl -sS"]
        if method != (body == nil ? "GET" : "POST") { parts.append("-X \(method)") }
        parts.append("\"\(base)\(target)\"")
        if needsToken { parts.append("-H \"Authorization: Bearer $ACCESS\"") }
        parts += headers.map { "-H \"\($0)\"" }
        if let body { parts.append("-H \"Content-Type: \(bodyType)\" -d '\(body)'") }
        return parts.joined(separator: " ")
    }
}

/// A method of `vestibule.app.v1` with an example of a call by Connect in JSON.
struct MethodExample: Sendable {
    let method: MethodDescriptor
    /// What it does, in a line.
    let summary: String
    let call: CallExample

    /// Every method.
    static let all: [MethodExample] = [
        .init(
            AuthServiceMethods.signInWithProvider,
            "Opens a session for what a provider gave the app.",
            #"{"provider":"apple","idToken":"'$TOKEN'","nonce":"'$NONCE'"}"#
        ),
        .init(
            AuthServiceMethods.refreshSession,
            "Exchanges a refresh token for its successor and a new access token.",
            #"{"refreshToken":"'$REFRESH'"}"#
        ),
        .init(AuthServiceMethods.signOut, "Ends the session.", "{}", needsToken: true),
        .init(AccountServiceMethods.getMe, "The user's profile.", "{}", needsToken: true),
        .init(
            AccountServiceMethods.updateMe,
            "Changes the fields that are present, all or none.",
            #"{"displayName":"Maria Santos"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.createGroup,
            "Creates a group with the user as its first member.",
            #"{"name":"Trip to Siargao"}"#,
            needsToken: true
        ),
        .init(GroupServiceMethods.listGroups, "The user's groups.", #"{"pageSize":10}"#, needsToken: true),
        .init(
            GroupServiceMethods.addMember,
            "Adds a person by phone number, pending until a user has it.",
            #"{"groupId":"'$GROUP'","phoneNumber":"+639171234567","displayName":"Ana Cruz"}"#,
            needsToken: true
        ),
        .init(
            GroupServiceMethods.listMembers,
            "A group's members and pending members.",
            #"{"groupId":"'$GROUP'"}"#,
            needsToken: true
        ),
        .init(KeyServiceMethods.getKeySet, "The public keys of our tokens.", "{}"),
    ]

    private init(_ method: MethodDescriptor, _ summary: String, _ message: String, needsToken: Bool = false) {
        self.method = method
        self.summary = summary
        call =
            method.allowsGet
            ? CallExample(target: "\(method.path)?encoding=json&message=%7B%7D", needsToken: needsToken)
            : CallExample(target: method.path, method: "POST", body: message, needsToken: needsToken)
    }
}
