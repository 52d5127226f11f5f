import JOSE

/// The simulator's state and what is done with it, one at a time; kept in a file if there is one.
actor SimulatorStore {
    /// What comes from outside: tests pass their own.
    struct Environment: Sendable {
        /// Unix time in seconds.
        var nowSeconds: @Sendable () -> Int64
        /// Random bytes for authorization codes.
        var randomBytes: @Sendable (Int) -> [UInt8]
    }

    private var state: SimulatorState
    private var misbehaviours: [Provider: Misbehaviour] = [:]
    private var foreign: SigningKey?
    private let file: StateFile?
    private let environment: Environment

    /// Takes over the file's state, or begins with a new one.
    init(
        file: StateFile?,
        environment: Environment,
        makeState: () throws -> SimulatorState = SimulatorState.withNewKeys
    ) throws {
        self.file = file
        self.environment = environment
        if let bytes = try file?.read() {
            state = try SimulatorState(parsing: bytes)
        } else {
            state = try makeState()
            try file?.write(state.serialized())
        }
    }

    /// The published keys of a provider, and how it misbehaves.
    func keys(_ provider: Provider) -> (set: JSONObject, misbehaviour: Misbehaviour) {
        (state.ring(provider).published, misbehaviours[provider] ?? .off)
    }

    /// The `kid` of the key that signs, and those of all that are published.
    func keyIDs(_ provider: Provider) -> (current: String, published: [String]) {
        let ring = state.ring(provider)
        return (ring.current.keyID, ring.keys.map(\.keyID))
    }

    func misbehave(_ provider: Provider, _ misbehaviour: Misbehaviour) {
        misbehaviours[provider] = misbehaviour
    }

    func rotate(_ provider: Provider, droppingOld: Bool) throws {
        var next = state
        try next.rotate(provider, droppingOld: droppingOld)
        try keep(next)
    }

    /// Signs a person in with Apple. The name comes with the first time that this client sees the person.
    func signInWithApple(_ order: SignInOrder) throws -> AppleSignIn {
        var next = state
        let isFirst = next.meet(.init(clientID: order.clientID, subject: order.person.subject))
        // Apple's codes have this form; the parts mean nothing to anyone else.
        let code = "c\(Hex.encode(environment.randomBytes(16))).0.\(Base64URL.encode(environment.randomBytes(20)))"
        let claims = TokenClaims.apple(signIn(order, .apple), isFirst: isFirst, code: code)
        let token = try sign(claims, order, .apple, type: nil)
        // Kept before it is told: who was told a name once is never told it again.
        if isFirst { try keep(next) }
        return AppleSignIn(identityToken: token, authorizationCode: code, user: isFirst ? user(order.person) : nil)
    }

    /// Signs a person in with Google.
    func signInWithGoogle(_ order: SignInOrder) throws -> String {
        try sign(TokenClaims.google(signIn(order, .google)), order, .google, type: "JWT")
    }

    private func signIn(_ order: SignInOrder, _ provider: Provider) -> TokenClaims.SignIn {
        let issuedAt = environment.nowSeconds() + order.overrides.issuedInSeconds
        return TokenClaims.SignIn(
            clientID: order.clientID,
            nonce: order.nonce,
            person: order.person,
            issuedAtSeconds: issuedAt,
            expiresAtSeconds: issuedAt + (order.overrides.expiresInSeconds ?? provider.tokenLifetimeSeconds)
        )
    }

    private func sign(
        _ claims: JSONObject,
        _ order: SignInOrder,
        _ provider: Provider,
        type: String?
    ) throws -> String {
        let foreign = try self.foreign ?? SigningKey.generateRSA2048()
        self.foreign = foreign
        return try TokenSigner.sign(
            order.overrides.applied(to: claims),
            signature: order.overrides.signature,
            key: state.ring(provider).current,
            foreign: foreign,
            type: type
        )
    }

    /// What Apple hands to the app beside the token, the first time: the name, and the e-mail as the app sees it.
    private func user(_ person: Person) -> JSONObject {
        var name = JSONObject()
        if let given = person.givenName { name["firstName"] = .string(given) }
        if let family = person.familyName { name["lastName"] = .string(family) }
        var user: JSONObject = ["name": .object(name)]
        if let email = person.toldEmail { user["email"] = .string(email) }
        return user
    }

    private func keep(_ next: SimulatorState) throws {
        try file?.write(next.serialized())
        state = next
    }
}

/// Who signs in to which client, and how the token shall differ.
struct SignInOrder: Sendable {
    var clientID: String
    var nonce: String?
    var person: Person
    var overrides: TokenOverrides
}

/// What Apple hands to the app.
struct AppleSignIn: Sendable {
    var identityToken: String
    var authorizationCode: String
    var user: JSONObject?
}
