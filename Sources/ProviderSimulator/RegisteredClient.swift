import HTTPJSON
import JOSE

/// An app that a provider knows, so that its credential is checked.
struct RegisteredClient: Sendable {
    /// The client's credential.
    enum Credential: Sendable {
        /// Apple: a JWT, signed with the private half of this key.
        case key(teamID: String, keyID: String, VerificationKey)
        /// Google, Facebook: a secret. Nil for an app without a secret, which proves its code by PKCE only.
        case secret(String?)
    }

    /// The longest client id, team id, key id and secret, in bytes.
    static let textMax = 256
    /// The longest key, in bytes.
    static let keyMax = 4096

    let provider: Provider
    let clientID: String
    let credential: Credential

    /// Reads `client_id` and the credential: for Apple `team_id`, `key_id` and `public_key_pem`, for others `client_secret`.
    init?(_ input: inout JSONInput, provider: Provider) {
        func text(_ name: String) -> String {
            let text = input.string(name)
            if text.utf8.count > Self.textMax || !text.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) {
                input.addError(
                    name,
                    code: "INVALID",
                    detail: "At most \(Self.textMax) ASCII characters without spaces."
                )
            }
            return text
        }
        self.provider = provider
        clientID = text("client_id")
        guard provider == .apple else {
            credential = .secret(input.optionalString("client_secret") == nil ? nil : text("client_secret"))
            return
        }
        let (teamID, keyID, pem) = (text("team_id"), text("key_id"), input.string("public_key_pem"))
        guard pem.utf8.count <= Self.keyMax, let key = try? VerificationKey(pem: pem), key.type == .p256 else {
            if !pem.isEmpty {
                input.addError("public_key_pem", code: "INVALID", detail: "A public key on P-256 in PEM.")
            }
            return nil
        }
        credential = .key(teamID: teamID, keyID: keyID, key)
    }

    /// The format that the stored state uses and the initializer reads.
    func json() throws(KeyError) -> JSONObject {
        switch credential {
        case .key(let teamID, let keyID, let key):
            [
                "client_id": .string(clientID), "team_id": .string(teamID), "key_id": .string(keyID),
                "public_key_pem": .string(try key.pem()),
            ]
        case .secret(let secret?): ["client_id": .string(clientID), "client_secret": .string(secret)]
        case .secret(nil): ["client_id": .string(clientID)]
        }
    }

    /// Returns whether the other client replaces this one: the same client, for Apple with the same key id.
    func isReplaced(by other: RegisteredClient) -> Bool {
        guard provider == other.provider, clientID == other.clientID else { return false }
        guard case .key(_, let ours, _) = credential, case .key(_, let theirs, _) = other.credential else {
            return true
        }
        return ours == theirs
    }
}

/// The known clients. A value; an unknown client is accepted without proof.
struct ClientRegistry: Sendable {
    /// The maximum of clients; Apple's count once for each of their keys.
    static let clientsMax = 1000

    private(set) var clients: [RegisteredClient] = []

    /// The registrations of a provider's client: several for an Apple client with several keys, none for an unknown one.
    func all(_ provider: Provider, _ clientID: String) -> [RegisteredClient] {
        clients.filter { $0.provider == provider && $0.clientID == clientID }
    }

    /// Adds a client, or replaces an existing one. Returns false if there is no room.
    mutating func register(_ client: RegisteredClient) -> Bool {
        clients.removeAll { $0.isReplaced(by: client) }
        guard clients.count < Self.clientsMax else { return false }
        clients.append(client)
        return true
    }

    /// Reads the clients of each provider: `{"apple": [{"client_id": …}], "google": […], "facebook": […]}`.
    init(_ object: JSONObject) throws(Problem) {
        var input = JSONInput(object)
        for provider in Provider.allCases {
            let value = object[provider.rawValue] ?? .array([])
            guard let entries = value.array else {
                input.addError(provider.rawValue, code: "WRONG_TYPE", detail: "This field must be an array.")
                continue
            }
            for (index, entry) in entries.enumerated() {
                let name = "\(provider.rawValue)[\(index)]"
                var entryInput = JSONInput(entry.object ?? JSONObject(), prefix: "\(name).")
                let client = RegisteredClient(&entryInput, provider: provider)
                input.adopt(entryInput)
                if let client, !register(client) {
                    input.addError(name, code: "TOO_MANY", detail: "At most \(Self.clientsMax) clients.")
                }
            }
        }
        try input.finish()
    }

    init() {}

    /// The format that the initializer reads.
    func json() throws(KeyError) -> JSONObject {
        var object = JSONObject()
        for provider in Provider.allCases {
            var entries: [JSONValue] = []
            for client in clients where client.provider == provider { entries.append(.object(try client.json())) }
            if !entries.isEmpty { object[provider.rawValue] = .array(entries) }
        }
        return object
    }
}
