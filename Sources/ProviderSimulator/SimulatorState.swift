import JOSE

/// The simulator's state from one run to the next: keys, the people whom Apple's clients have seen, and registered clients. A
/// value; the store keeps and persists it.
struct SimulatorState: Sendable {
    /// A person as an Apple client knows them.
    struct Acquaintance: Sendable, Hashable {
        var clientID: String
        var subject: String
    }

    /// A person's consent to a client, until it is revoked: refresh tokens belong to it.
    struct Grant: Sendable, Hashable {
        /// Random; no two consents have the same.
        var id: String
        /// The address as the client sees it.
        var email: String?
        var isEmailVerified: Bool
        var isPrivateEmail: Bool
    }

    /// The maximum of kept acquaintances. The oldest are dropped first, and their name is sent once more.
    static let acquaintancesMax = 100_000

    private(set) var rings: [Provider: KeyRing]
    /// The key of refresh tokens and Apple's access tokens.
    let tokenKey: [UInt8]
    /// Clients that were registered at runtime.
    var clients = ClientRegistry()
    /// Apple apps that were moved to another team, by their ids.
    private(set) var moves: [String: AppMove] = [:]
    private var grants: [Acquaintance: Grant] = [:]
    private var owners: [String: Acquaintance] = [:]
    private(set) var order: [Acquaintance] = []

    /// A state without acquaintances.
    init(rings: [Provider: KeyRing], tokenKey: [UInt8] = SecureRandom.bytes(32)) {
        precondition(Provider.allCases.allSatisfy { rings[$0] != nil }, "every provider needs keys")
        self.rings = rings
        self.tokenKey = tokenKey
    }

    /// A state without acquaintances and with new keys, which take some 300 ms of CPU.
    static func withNewKeys() throws -> SimulatorState {
        var rings: [Provider: KeyRing] = [:]
        for provider in Provider.allCases { rings[provider] = try KeyRing() }
        return SimulatorState(rings: rings)
    }

    /// A provider's keys.
    func ring(_ provider: Provider) -> KeyRing {
        guard let ring = rings[provider] else { preconditionFailure("every provider has keys") }
        return ring
    }

    mutating func rotate(_ provider: Provider, droppingOld: Bool) throws(KeyError) {
        var ring = ring(provider)
        try ring.rotate(droppingOld: droppingOld)
        rings[provider] = ring
    }

    /// A person's grant to a client; nil if there never was one, or no longer is.
    func grant(of acquaintance: Acquaintance) -> Grant? { grants[acquaintance] }

    /// The person and client of a grant, by its id.
    func owner(ofGrant id: String) -> Acquaintance? { owners[id] }

    /// Stores that Apple has introduced a person to a client. An existing grant keeps its id and gets the current address.
    ///
    /// - Returns: true the first time.
    mutating func meet(_ acquaintance: Acquaintance, grant: Grant) -> Bool {
        if let known = grants[acquaintance] {
            var renewed = grant
            renewed.id = known.id
            grants[acquaintance] = renewed
            return false
        }
        grants[acquaintance] = grant
        owners[grant.id] = acquaintance
        order.append(acquaintance)
        if order.count > Self.acquaintancesMax { forget(order.removeFirst()) }
        return true
    }

    /// Ends a grant; the person's name is sent again the next time.
    mutating func revoke(_ acquaintance: Acquaintance) {
        forget(acquaintance)
        order.removeAll { $0 == acquaintance }
    }

    /// Moves an Apple app to another team. Tokens that were issued before become invalid.
    mutating func setMove(_ move: AppMove, of clientID: String, newID: () -> String) {
        if moves[clientID]?.teams != move.teams {
            for acquaintance in order where acquaintance.clientID == clientID {
                guard var grant = grants[acquaintance] else { continue }
                owners[grant.id] = nil
                grant.id = newID()
                grants[acquaintance] = grant
                owners[grant.id] = acquaintance
            }
        }
        moves[clientID] = move
    }

    private mutating func forget(_ acquaintance: Acquaintance) {
        if let grant = grants.removeValue(forKey: acquaintance) { owners[grant.id] = nil }
    }
}
