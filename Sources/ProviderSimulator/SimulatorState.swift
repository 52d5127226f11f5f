import JOSE

/// What the simulator remembers: keys, and whom Apple's clients have seen. A value; the store keeps and persists it.
struct SimulatorState: Sendable {
    /// A person as a client knows them.
    struct Acquaintance: Sendable, Hashable {
        var clientID: String
        var subject: String
    }

    /// The most acquaintances that are kept; the oldest are forgotten first and get their name told once more.
    static let acquaintancesMax = 100_000
    private static let version: Int64 = 1

    private(set) var rings: [Provider: KeyRing]
    private var seen: Set<Acquaintance> = []
    private var order: [Acquaintance] = []

    /// A state that has seen nobody.
    init(rings: [Provider: KeyRing]) {
        precondition(Provider.allCases.allSatisfy { rings[$0] != nil }, "every provider needs keys")
        self.rings = rings
    }

    /// A state with new keys, which take some 200 ms of CPU, that has seen nobody.
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

    /// Notes that Apple told a client of a person; true the first time.
    mutating func meet(_ acquaintance: Acquaintance) -> Bool {
        guard seen.insert(acquaintance).inserted else { return false }
        order.append(acquaintance)
        if order.count > Self.acquaintancesMax { seen.remove(order.removeFirst()) }
        return true
    }
}

// MARK: - As text

extension SimulatorState {
    /// Why a kept state was not taken.
    enum Fault: Error, Hashable {
        case malformed
        case unknownVersion
    }

    /// Reads a kept state.
    init(parsing bytes: [UInt8]) throws(Fault) {
        let limits = JSONLimits(bytesMax: 64 << 20, depthMax: 6, valuesMax: 8 * Self.acquaintancesMax)
        guard let object = try? JSONObject(parsing: bytes, limits: limits) else { throw .malformed }
        guard object["version"] == .integer(Self.version) else { throw .unknownVersion }
        var rings: [Provider: KeyRing] = [:]
        for provider in Provider.allCases {
            let texts = object["keys"]?.object?[provider.rawValue]?.array?.compactMap(\.string) ?? []
            let keys = texts.compactMap { try? SigningKey(pem: $0) }
            guard keys.count == texts.count, let ring = KeyRing(keys: keys) else { throw .malformed }
            rings[provider] = ring
        }
        self.init(rings: rings)
        guard let pairs = object["seen"]?.array else { throw .malformed }
        for pair in pairs {
            guard let texts = pair.array?.compactMap(\.string), texts.count == 2 else { throw .malformed }
            _ = meet(Acquaintance(clientID: texts[0], subject: texts[1]))
        }
    }

    /// The state as a text. Holds the private keys of the simulator.
    func serialized() throws(KeyError) -> [UInt8] {
        var keys = JSONObject()
        for provider in Provider.allCases {
            var texts: [JSONValue] = []
            for key in ring(provider).keys { texts.append(.string(try key.pem())) }
            keys[provider.rawValue] = .array(texts)
        }
        let object: JSONObject = [
            "version": .integer(Self.version),
            "keys": .object(keys),
            "seen": .array(order.map { [.string($0.clientID), .string($0.subject)] }),
        ]
        return object.serialized()
    }
}
