import HTTPJSON
import JOSE

/// The simulator's state and its operations, one at a time; stored in a file if there is one.
actor SimulatorStore {
    /// The clock and the random generator: tests pass their own.
    struct Environment: Sendable {
        /// Unix time in seconds.
        var nowSeconds: @Sendable () -> Int64
        /// Random bytes for codes and tokens.
        var randomBytes: @Sendable (Int) -> [UInt8]
    }

    /// The maximum of remembered codes, including spent and expired ones.
    static let codesMax = 4096
    /// The maximum of access tokens of Google and Facebook.
    static let accessTokensMax = 20_000
    /// The maximum of access tokens with which users are moved to another team.
    static let migrationTokensMax = 1000
    /// The maximum of people that a page offers to choose from, for each provider.
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

    /// Loads the file's state, or begins with a new one.
    ///
    /// - Parameter clients: the clients known from the start, regardless of the state.
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

    /// Counts a call, and returns how to respond to it.
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

    /// The number of calls of each endpoint since the start, or since the last call with `isReset`, which resets them first.
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

    /// The `kid` of the signing key, and those of all published keys.
    func keyIDs(_ provider: Provider) -> (current: String, published: [String]) {
        let ring = state.ring(provider)
        return (ring.current.keyID, ring.keys.map(\.keyID))
    }

    func rotate(_ provider: Provider, droppingOld: Bool) throws {
        try change { try $0.rotate(provider, droppingOld: droppingOld) }
    }

    /// Signs the claims of an ID token with the current key.
    func sign(_ claims: JSONObject, _ overrides: TokenOverrides, _ provider: Provider) throws -> String {
        // Apple's tokens have no `typ`.
        try sign(claims, overrides, provider, type: provider == .apple ? nil : "JWT")
    }

    /// Signs claims with the current key.
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

    /// The known registrations of a client: from the file and those added since.
    func clients(_ provider: Provider, _ clientID: String) -> [RegisteredClient] {
        fileClients.all(provider, clientID) + state.clients.all(provider, clientID)
    }

    /// The ids of a provider's clients, as they were first registered.
    func clientIDs(_ provider: Provider) -> [String] {
        var seen: Set<String> = []
        return (fileClients.clients + state.clients.clients)
            .filter { $0.provider == provider && seen.insert($0.clientID).inserted }.map(\.clientID)
    }

    /// Registers a client. Returns false if there is no room for more.
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

    /// Stores a change of the state, then applies it.
    func change(_ body: (inout SimulatorState) throws -> Void) throws {
        var next = state
        try body(&next)
        try file?.write(next.serialized())
        state = next
    }
}
