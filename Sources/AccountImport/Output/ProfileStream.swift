import Glibc
import JOSE
import Models

/// The stream from identity to profile during an import: lines of JSON, in the order of the rows. Only identity writes it.
///
/// The first line describes the import: `{"vestibule_import":1,"digest":"…","source":"…","dry":false}`. Then there is a line for
/// each existing account of which profile keeps data: `{"line":2,"id":"…","user_id":"…","display_name":"…","username":"…",
/// "phone_number":"+63…"}`. `{"position":"…"}` ends a batch: the lines before it may be applied, and a resumed import begins there.
/// `{"end":true}` is the last line; without it the stream was cut off.
public enum ProfileStream {
    /// The maximum of accounts between two positions.
    public static let batchMax = 2000
    /// The longest line, in bytes.
    static let lineBytesMax = 16 * 1024
    static let version: Int64 = 1

    /// The header of a stream.
    public struct Header: Sendable, Hashable {
        /// The digest by which a resumed import recognizes its input.
        public let digest: [UInt8]
        /// The name of the source.
        public let source: String
        /// Whether to change nothing.
        public let isDry: Bool

        /// A header.
        public init(digest: [UInt8], source: String, isDry: Bool) {
            self.digest = digest
            self.source = source
            self.isDry = isDry
        }
    }

    /// The data that profile keeps of an account.
    public struct Row: Sendable, Hashable {
        /// The line of its row in the file.
        public let line: Int64
        /// Its id at its former backend.
        public let oldID: String
        /// The account.
        public let userID: UserID
        /// Its name.
        public let displayName: DisplayName?
        /// Its username.
        public let username: Username?
        /// Its number.
        public let phone: PhoneNumber?

        /// The data of a candidate.
        public init(_ candidate: ImportCandidate) {
            self.init(
                line: candidate.line,
                oldID: candidate.account.oldID,
                userID: candidate.account.userID,
                displayName: candidate.displayName,
                username: candidate.username,
                phone: candidate.phone
            )
        }

        /// A row.
        public init(
            line: Int64,
            oldID: String,
            userID: UserID,
            displayName: DisplayName?,
            username: Username?,
            phone: PhoneNumber?
        ) {
            self.line = line
            self.oldID = oldID
            self.userID = userID
            self.displayName = displayName
            self.username = username
            self.phone = phone
        }

        /// Whether there is nothing for profile to keep.
        public var isEmpty: Bool { displayName == nil && username == nil && phone == nil }
    }

    /// A line after the first.
    public enum Message: Sendable, Hashable {
        /// An account.
        case row(Row)
        /// The end of a batch.
        case position(ImportPosition)
        /// The end.
        case end
    }
}

/// Writes the lines.
public final class ProfileStreamWriter {
    private let descriptor: Int32
    private var pending: [UInt8] = []

    /// A writer to an open descriptor, which stays its owner's.
    public init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Writes the first line.
    public func begin(_ header: ProfileStream.Header) throws(ImportError) {
        add {
            $0.add("vestibule_import", ProfileStream.version)
            $0.add("digest", Hex.encode(header.digest))
            $0.add("source", header.source)
            $0.add("dry", header.isDry)
        }
        try flush()
    }

    /// Adds an account, which the next position writes.
    public func add(_ row: ProfileStream.Row) {
        add {
            $0.add("line", row.line)
            $0.add("id", row.oldID)
            $0.add("user_id", row.userID.description)
            if let name = row.displayName { $0.add("display_name", name.value) }
            if let username = row.username { $0.add("username", username.value) }
            if let phone = row.phone { $0.add("phone_number", phone.e164) }
        }
    }

    /// Ends a batch.
    public func end(at position: ImportPosition) throws(ImportError) {
        add { $0.add("position", position.description) }
        try flush()
    }

    /// Ends the stream.
    public func end() throws(ImportError) {
        add { $0.add("end", true) }
        try flush()
    }

    private func add(_ members: (inout JSONWriter) -> Void) {
        pending += JSONWriter.object(members)
        pending.append(UInt8(ascii: "\n"))
    }

    private func flush() throws(ImportError) {
        try writeWhole(descriptor, pending, "the stream to profile")
        pending.removeAll(keepingCapacity: true)
    }
}

/// Reads the lines, strictly.
public struct ProfileStreamReader {
    /// The header of the stream.
    public let header: ProfileStream.Header
    private var input: ByteInput

    /// Reads the first line of an open descriptor, which stays its owner's.
    public init(_ descriptor: Int32) throws(ImportError) {
        try self.init(
            ByteInput(name: "standard input", count: 0, pieceBytes: 64 * 1024) { _, buffer throws(ImportError) in
                while true {
                    let count = read(descriptor, buffer.baseAddress, buffer.count)
                    if count >= 0 { return count }
                    guard errno == EINTR else {
                        throw ImportError("standard input", String(cString: strerror(errno)))
                    }
                }
            }
        )
    }

    init(_ input: ByteInput) throws(ImportError) {
        self.input = input
        guard let object = try Self.line(&self.input) else {
            throw ImportError(input.name, "it is empty; expected the output of `identity import`")
        }
        guard object["vestibule_import"]?.integer == ProfileStream.version,
            let digest = object["digest"]?.string.flatMap({ Hex.decode($0) }), digest.count == SHA256.byteCount,
            let source = object["source"]?.string, let isDry = object["dry"]?.bool
        else { throw ImportError(input.name, line: 1, "this isn't the output of `identity import` of this version") }
        header = ProfileStream.Header(digest: digest, source: source, isDry: isDry)
    }

    /// The next line.
    ///
    /// - Throws: `ImportError` also if the stream ends without its last line.
    public mutating func next() throws(ImportError) -> ProfileStream.Message {
        let line = input.line
        guard let object = try Self.line(&input) else {
            throw ImportError(input.name, "it was cut off: identity ended early")
        }
        if object["end"]?.bool == true { return .end }
        if let position = object["position"]?.string.flatMap({ ImportPosition($0) }) { return .position(position) }
        guard let number = object["line"]?.integer, let oldID = object["id"]?.string,
            let userID = object["user_id"]?.string.flatMap({ UserID($0) }),
            let name = Self.value(object["display_name"], { try? DisplayName($0) }),
            let username = Self.value(object["username"], { try? Username($0) }),
            let phone = Self.value(object["phone_number"], { PhoneNumber(stored: $0) })
        else { throw ImportError(input.name, line: line, "this isn't a line of an import") }
        return .row(
            ProfileStream.Row(
                line: number,
                oldID: oldID,
                userID: userID,
                displayName: name,
                username: username,
                phone: phone
            )
        )
    }

    /// The value of an optional member, in two layers: the outer one is nil if the member is invalid.
    private static func value<Value>(_ member: JSONValue?, _ make: (String) -> Value?) -> Value?? {
        guard let member else { return .some(nil) }
        guard let value = member.string.flatMap(make) else { return nil }
        return .some(value)
    }

    private static func line(_ input: inout ByteInput) throws(ImportError) -> JSONObject? {
        var bytes: [UInt8] = []
        while let byte = try input.next() {
            if byte == UInt8(ascii: "\n") {
                guard let object = try? JSONObject(parsing: bytes) else { throw input.fault("this is not JSON") }
                return object
            }
            bytes.append(byte)
            guard bytes.count <= ProfileStream.lineBytesMax else { throw input.fault("a line is too long") }
        }
        // A line without an end is incomplete and is ignored.
        return nil
    }
}
