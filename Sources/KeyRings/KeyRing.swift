import JOSE
import ServiceKit

/// The keys of one kind with their states: the content of one file of a ``KeyFolder``.
///
/// It has one current key, at most one next, and retired ones; ``keysMax`` in all at most. A value; it never prints a key.
public struct KeyRing: Sendable, Hashable, CustomStringConvertible {
    /// The state of a key.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// It only verifies: all programs get it before it is used.
        case next
        /// It makes new tokens, and verifies.
        case current
        /// It only verifies the tokens that it made. Only the public half of a key pair remains.
        case retired
    }

    /// One key.
    public struct Key: Sendable, Hashable {
        /// Its id, for people; it doesn't reveal the key.
        public let id: String
        /// Its state.
        public var state: State
        /// Since when, in Unix seconds.
        public var sinceSeconds: Int64
        /// The key as text: PEM of a key pair or of its public half, or base64url of random bytes. A secret.
        public var text: String

        /// A key in a state.
        public init(id: String, state: State, sinceSeconds: Int64, text: String) {
            self.id = id
            self.state = state
            self.sinceSeconds = sinceSeconds
            self.text = text
        }
    }

    /// The maximum of keys of one kind: a token may have to be checked against all of them.
    public static let keysMax = 8
    /// The maximum size of a file in bytes.
    static let bytesMax = 131_072
    private static let format: JSONValue = 1
    /// Valid times in a file, 1970 to 9999, so that additions can't overflow.
    private static let sinceRange: ClosedRange<Int64> = 0...253_402_300_799

    /// The kind's name.
    public let kind: String
    /// The service that the keys were derived for; nil for identity's own.
    public let service: String?
    /// The keys: the current one, the next if there is one, then the retired ones, newest first.
    public let keys: [Key]

    /// A ring of these keys, in any order.
    ///
    /// - Throws: `FileError` unless there is one current key, at most one next, at most ``keysMax`` in all, and no id twice.
    public init(kind: String, service: String? = nil, keys: [Key]) throws(FileError) {
        func keysOf(_ state: State) -> [Key] { keys.filter { $0.state == state } }
        guard keysOf(.current).count == 1 else { throw FileError("doesn't have exactly one current key") }
        guard keysOf(.next).count <= 1 else { throw FileError("has more than one next key") }
        guard keys.count <= Self.keysMax else { throw FileError("has more than \(Self.keysMax) keys") }
        guard Set(keys.map(\.id)).count == keys.count else { throw FileError("has a key twice") }
        self.kind = kind
        self.service = service
        let retired = keysOf(.retired).sorted { $0.sinceSeconds > $1.sinceSeconds }
        self.keys = keysOf(.current) + keysOf(.next) + retired
    }

    /// Reads a file's content.
    ///
    /// - Parameter service: the service that the keys must be derived for; nil for identity's own.
    /// - Throws: `FileError` with a text to append to the file's path; it never contains a key.
    public init(kind: String, service: String? = nil, parsing bytes: [UInt8]) throws(FileError) {
        guard let object = try? JSONObject(parsing: bytes, limits: JSONLimits(bytesMax: Self.bytesMax)),
            let elements = object["keys"]?.array
        else { throw FileError("is not a key file") }
        guard object["format"] == Self.format else { throw FileError("has a format of another version") }
        guard object["kind"] == .string(kind) else { throw FileError("holds keys of another kind than \(kind)") }
        guard object["service"] == service.map(JSONValue.string) else {
            throw FileError("holds other keys than those of \(service ?? "identity itself")")
        }
        var keys: [Key] = []
        for element in elements {
            guard let object = element.object, let id = object["id"]?.string, !id.isEmpty,
                let state = object["state"]?.string.flatMap(State.init(rawValue:)),
                let since = object["since"]?.integer, Self.sinceRange ~= since,
                let text = object["key"]?.string, !text.isEmpty
            else { throw FileError("has a key that cannot be read") }
            keys.append(Key(id: id, state: state, sinceSeconds: since, text: text))
        }
        try self.init(kind: kind, service: service, keys: keys)
    }

    /// The key that makes new tokens.
    public var current: Key { keys[0] }
    /// The key that will make tokens after it.
    public var next: Key? { keys.first { $0.state == .next } }
    /// The keys that made tokens before, newest first.
    public var retired: [Key] { keys.filter { $0.state == .retired } }

    /// The content of a file.
    var serialized: [UInt8] {
        var object: JSONObject = [
            "format": Self.format,
            "kind": .string(kind),
            "keys": .array(
                keys.map { key in
                    .object([
                        "id": .string(key.id), "state": .string(key.state.rawValue),
                        "since": .integer(key.sinceSeconds), "key": .string(key.text),
                    ])
                }
            ),
        ]
        if let service { object["service"] = .string(service) }
        return object.serialized() + [UInt8(ascii: "\n")]
    }

    /// The kind and the ids; never a key.
    public var description: String {
        "\(kind): " + keys.map { "\($0.id) \($0.state.rawValue)" }.joined(separator: ", ")
    }
}
