import HTTPJSON
import JOSE

extension SimulatorState {
    /// Why a stored state was rejected.
    enum FormatError: Error, Hashable, CustomStringConvertible {
        /// The text is damaged.
        case malformed
        /// The text is of another version of the simulator.
        case unknownVersion

        var description: String {
            switch self {
            case .malformed: "the state file is damaged; delete it to start over with new keys"
            case .unknownVersion: "the state file is of another version of the simulator; delete it to start over"
            }
        }
    }

    private static let version: Int64 = 2
    /// The former format: Apple's and Google's keys, and the people whom clients have seen.
    private static let firstVersion: Int64 = 1
    /// Each acquaintance is at most seven values.
    private static let limits = JSONLimits(bytesMax: 64 << 20, depthMax: 6, valuesMax: 12 * acquaintancesMax)

    /// Reads a stored state.
    ///
    /// - Returns: the state, and whether it had the former format, so that it must be stored in the current one.
    static func parse(_ bytes: [UInt8]) throws -> (state: SimulatorState, isOld: Bool) {
        guard let object = try? JSONObject(parsing: bytes, limits: limits) else { throw FormatError.malformed }
        switch object["version"] {
        case .integer(version): return (try parse(object), false)
        case .integer(firstVersion): return (try parseFirst(object), true)
        default: throw FormatError.unknownVersion
        }
    }

    private static func parse(_ object: JSONObject) throws(FormatError) -> SimulatorState {
        var rings: [Provider: KeyRing] = [:]
        for provider in Provider.allCases { rings[provider] = try ring(provider, object) }
        guard let tokenKey = object["token_key"]?.string.flatMap({ Base64URL.decode($0) }), tokenKey.count == 32,
            let entries = object["grants"]?.array
        else { throw .malformed }
        var state = SimulatorState(rings: rings, tokenKey: tokenKey)
        for entry in entries {
            guard let values = entry.array, values.count == 6, let clientID = values[0].string,
                let subject = values[1].string, let id = values[2].string,
                values[3] == .null || values[3].string != nil,
                let isVerified = values[4].bool, let isPrivate = values[5].bool
            else { throw .malformed }
            let grant = Grant(
                id: id,
                email: values[3].string,
                isEmailVerified: isVerified,
                isPrivateEmail: isPrivate
            )
            _ = state.meet(Acquaintance(clientID: clientID, subject: subject), grant: grant)
        }
        guard let clients = try? ClientRegistry(object["clients"]?.object ?? JSONObject()) else { throw .malformed }
        state.clients = clients
        for (clientID, value) in (object["moves"]?.object ?? JSONObject()).members.map({ ($0.name, $0.value) }) {
            guard let teams = value.object?["teams"]?.array?.compactMap(\.string), !teams.isEmpty,
                let isOver = value.object?["is_over"]?.bool
            else { throw .malformed }
            state.setMove(AppMove(teams: teams, isOver: isOver), of: clientID) { Hex.encode(SecureRandom.bytes(16)) }
        }
        return state
    }

    private static func parseFirst(_ object: JSONObject) throws -> SimulatorState {
        var rings: [Provider: KeyRing] = [.facebook: try KeyRing()]
        for provider in [Provider.apple, .google] { rings[provider] = try ring(provider, object) }
        guard let pairs = object["seen"]?.array else { throw FormatError.malformed }
        var state = SimulatorState(rings: rings)
        for pair in pairs {
            guard let texts = pair.array?.compactMap(\.string), texts.count == 2 else { throw FormatError.malformed }
            let id = Hex.encode(SecureRandom.bytes(16))
            let grant = Grant(id: id, email: nil, isEmailVerified: false, isPrivateEmail: false)
            _ = state.meet(Acquaintance(clientID: texts[0], subject: texts[1]), grant: grant)
        }
        return state
    }

    private static func ring(_ provider: Provider, _ object: JSONObject) throws(FormatError) -> KeyRing {
        let texts = object["keys"]?.object?[provider.rawValue]?.array?.compactMap(\.string) ?? []
        let keys = texts.compactMap { try? SigningKey(pem: $0) }
        guard keys.count == texts.count, let ring = KeyRing(keys: keys) else { throw .malformed }
        return ring
    }

    /// The state as a text. It contains the private keys of the simulator.
    func serialized() throws(KeyError) -> [UInt8] {
        var keys = JSONObject()
        for provider in Provider.allCases {
            var texts: [JSONValue] = []
            for key in ring(provider).keys { texts.append(.string(try key.pem())) }
            keys[provider.rawValue] = .array(texts)
        }
        let grants = order.compactMap { acquaintance -> JSONValue? in
            guard let grant = grant(of: acquaintance) else { return nil }
            return [
                .string(acquaintance.clientID), .string(acquaintance.subject), .string(grant.id),
                grant.email.map { .string($0) } ?? .null, .bool(grant.isEmailVerified), .bool(grant.isPrivateEmail),
            ]
        }
        var moves = JSONObject()
        for (clientID, move) in self.moves.sorted(by: { $0.key < $1.key }) {
            moves[clientID] = ["teams": .array(move.teams.map { .string($0) }), "is_over": .bool(move.isOver)]
        }
        let object: JSONObject = [
            "version": .integer(Self.version),
            "keys": .object(keys),
            "token_key": .string(Base64URL.encode(tokenKey)),
            "clients": .object(try clients.json()),
            "grants": .array(grants),
            "moves": .object(moves),
        ]
        return object.serialized()
    }
}
