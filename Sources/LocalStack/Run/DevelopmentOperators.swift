import JOSE

/// Who may use `vestibule console` beside the local stack: three of the people whom the simulated Google always has, one of each role.
enum DevelopmentOperators {
    /// The issuer of the simulated Google's tokens.
    static let issuer = "https://accounts.google.com"
    /// The console's client id, which the simulator takes without a secret.
    static let clientID = "console"

    /// The operators file. The subjects are the simulator's for these people.
    static let file: JSONObject = [
        "operators": [
            entry("maria", "owner", "108400852456099511377"), entry("ana", "support", "179238825860222054100"),
            entry("ben", "read", "166043008348253113653"),
        ]
    ]

    private static func entry(_ name: String, _ role: String, _ subject: String) -> JSONValue {
        ["name": .string(name), "role": .string(role), "issuer": .string(issuer), "subject": .string(subject)]
    }
}
