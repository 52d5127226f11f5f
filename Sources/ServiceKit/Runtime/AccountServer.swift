/// A program with something of people's accounts, which an operator can ask for.
public protocol AccountServer: MigratingServer {
    /// Counts what there is of an account.
    ///
    /// - Parameter id: the account's id, a UUID.
    func trace(account id: String) async throws -> AccountTrace

    /// All that is known of an account, as a JSON object. Nothing secret, such as what tokens are made of, is in it.
    ///
    /// - Parameter id: the account's id, a UUID.
    func export(account id: String) async throws -> String
}

/// What a service has of an account.
public struct AccountTrace: Sendable, Hashable {
    /// Something in one place, such as rows of a table.
    public struct Place: Sendable, Hashable {
        /// A word of ours: the table.
        public let name: String
        /// How much of it is of the account.
        public let count: Int64

        /// Something in a place.
        public init(name: String, count: Int64) {
            self.name = name
            self.count = count
        }
    }

    /// What a closed account must not have left.
    public let held: [Place]
    /// What stays for a while, and names nobody: the account's id alone.
    public let kept: [Place]

    /// A trace.
    public init(held: [Place], kept: [Place]) {
        self.held = held
        self.kept = kept
    }

    /// Whether nothing is left that a closed account must not have left.
    public var isClean: Bool { held.allSatisfy { $0.count == 0 } }

    /// As a JSON object on one line, such as `{"service":"profile","left":false,"held":{"phones":0},"kept":{}}`.
    public func json(of service: String) -> String {
        #"{"service":"\#(service)","left":\#(!isClean),"held":\#(Self.json(held)),"kept":\#(Self.json(kept))}"#
    }

    private static func json(_ places: [Place]) -> String {
        "{" + places.map { #""\#($0.name)":\#($0.count)"# }.joined(separator: ",") + "}"
    }
}
