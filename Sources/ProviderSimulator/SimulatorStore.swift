import HTTPJSON
import JOSE

/// The simulator's state and what is done with it, one at a time; kept in a file if there is one.
actor SimulatorStore {
    /// What comes from outside: tests pass their own.
    struct Environment: Sendable {
        /// Unix time in seconds.
        var nowSeconds: @Sendable () -> Int64
        /// Random bytes for codes and tokens.
        var randomBytes: @Sendable (Int) -> [UInt8]
    }

    /// The most codes that are remembered, those that are spent or over included.
    static let codesMax = 4096
    /// The most access tokens of Google and Facebook.
    static let accessTokensMax = 20_000
    /// The most access tokens by which users are moved to another team.
    static let migrationTokensMax = 1000
    /// The most people that a page offers to choose from, for each provider.
    static let recentPeopleMax = 8

    var codes = BoundedTable<AuthorizationCode>(countMax: codesMax)
    var accessTokens = BoundedTable<AccessToken>(countMax: accessTokensMax)
    var migrationTokens = BoundedTable<MigrationToken>(countMax: migrationTokensMax)
    var transfers = BoundedTable<UserTransfer>(countMax: SimulatorState.acquaintancesMax)
    let environment: Environment
    private(set) var state: SimulatorState
    private let fileClients: ClientRegistry
    private var misbehaviours: [Endpoint: Misbehaviour] = [:]
    private var counts: [Endpoint: Int64] = [:]
    private var recent: [Provider: BoundedTable<Person>] = [:]
    private var foreign: SigningKey?
    private let file: StateFile?

    /// Takes over the file's state, or begins with a new one.
    ///
    /// - Parameter clients: those that are known from the start, whatever the state says.
    init(
        file: StateFile?,
        clients: ClientRegistry = ClientRegistry(),
        environment: Environment,
        makeState: () throws -> SimulatorState = SimulatorState.withNewKeys
    ) throws {
        self.file = file
        self.environment = environment
        fileClients = clients
        var isNew = true
        if let bytes = try file?.read() {
            (state, isNew) = try SimulatorState.parse(bytes)
        } else {
            state = try makeState()
        }
        if isNew { try file?.write(state.serialized()) }
    }

    // MARK: - Endpoints

    /// Counts a call, and tells how it shall go.
    func beginCall(_ endpoint: Endpoint) -> Misbehaviour {
        counts[endpoint, default: 0] += 1
        guard var misbehaviour = misbehaviours[endpoint] else { return .off }
        let now = misbehaviour
        if let left = misbehaviour.timesLeft {
            misbehaviour.timesLeft = left - 1
            misbehaviours[endpoint] = left > 1 ? misbehaviour : nil
        }
        return now
    }

    func misbehave(_ endpoint: Endpoint, _ misbehaviour: Misbehaviour) {
        misbehaviours[endpoint] = misbehaviour.mode == .off ? nil : misbehaviour
    }

    /// How often each endpoint was called since the start, or since it was last asked for with `isReset`.
    func callCounts(isReset: Bool = false) -> JSONObject {
        if isReset { counts = [:] }
        var body = JSONObject()
        for provider in Provider.allCases {
            var calls = JSONObject()
            for name in provider.endpoints {
                calls[name] = .integer(counts[Endpoint(provider: provider, name: name)] ?? 0)
            }
            body[provider.rawValue] = .object(calls)
        }
        return body
    }

    // MARK: - Keys

    /// The published keys of a provider.
    func keys(_ provider: Provider) -> JSONObject { state.ring(provider).published }

    /// The `kid` of the key that signs, and those of all that are published.
    func keyIDs(_ provider: Provider) -> (current: String, published: [String]) {
        let ring = state.ring(provider)
        return (ring.current.keyID, ring.keys.map(\.keyID))
    }

    func rotate(_ provider: Provider, droppingOld: Bool) throws {
        try change { try $0.rotate(provider, droppingOld: droppingOld) }
    }

    /// Signs the claims of an ID token with the key of today.
    func sign(_ claims: JSONObject, _ overrides: TokenOverrides, _ provider: Provider) throws -> String {
        // Apple writes no type.
        try sign(claims, overrides, provider, type: provider == .apple ? nil : "JWT")
    }

    /// Signs claims with the key of today.
    ///
    /// - Parameter type: the header's `typ`; nil for none.
    func sign(
        _ claims: JSONObject,
        _ overrides: TokenOverrides,
        _ provider: Provider,
        type: String?
    ) throws -> String {
        let foreign = try self.foreign ?? SigningKey.generateRSA2048()
        self.foreign = foreign
        return try TokenSigner.sign(
            overrides.applied(to: claims),
            signature: overrides.signature,
            key: state.ring(provider).current,
            foreign: foreign,
            type: type
        )
    }

    // MARK: - Clients and people

    /// What is known of a client: of the file and of those that were registered since.
    func clients(_ provider: Provider, _ clientID: String) -> [RegisteredClient] {
        fileClients.all(provider, clientID) + state.clients.all(provider, clientID)
    }

    /// Registers a client. False if there is no room for more.
    func register(_ client: RegisteredClient) throws -> Bool {
        var isKept = false
        try change { isKept = $0.clients.register(client) }
        return isKept
    }

    /// The people who signed in last, for a page to choose from.
    func recentPeople(_ provider: Provider) -> [Person] { recent[provider]?.newestFirst ?? [] }

    func remember(_ person: Person, _ provider: Provider) {
        recent[provider, default: BoundedTable(countMax: Self.recentPeopleMax)].keep(person, as: person.subject)
    }

    // MARK: - Keeping

    /// Changes the state, once the change is kept.
    func change(_ body: (inout SimulatorState) throws -> Void) throws {
        var next = state
        try body(&next)
        try file?.write(next.serialized())
        state = next
    }
}
