/// What a person does about events that are held: those that are set aside, and those that wait to be tried again. Each program with
/// an outbox has it as `outbox`, and `vestibule outbox` asks all of them.
public enum OutboxCommand: Sendable, Hashable {
    /// Shows the oldest held events of each receiver; whole phone numbers only if asked for.
    case list(limit: Int, showsNumbers: Bool)
    /// Shows all that is known of one held event.
    case show(OutboxEventName, showsNumbers: Bool)
    /// Has held events told again; all of them if nil.
    case release([OutboxEventName]?)
    /// Forgets events that are set aside.
    case discard([OutboxEventName])
}

/// By what a person names an event of a program's outboxes: to whom it is to be told, and its number, such as `invites/17`.
public struct OutboxEventName: Sendable, Hashable, CustomStringConvertible {
    /// The service that is to be told.
    public let receiver: String
    /// The number of the row in that outbox.
    public let rowID: Int64

    /// A name of its parts.
    public init(receiver: String, rowID: Int64) {
        self.receiver = receiver
        self.rowID = rowID
    }

    /// A name of what a person typed; nil if it is none.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[0].allSatisfy({ $0.isASCII && ($0.isLowercase || $0 == "_") }),
            let rowID = Int64(parts[1]), rowID > 0
        else { return nil }
        self.init(receiver: String(parts[0]), rowID: rowID)
    }

    /// The receiver, a slash and the number.
    public var description: String { "\(receiver)/\(rowID)" }
}

/// A program with outboxes, at which a person can look.
public protocol OutboxServer: MigratingServer {
    /// Does what a person asks about the outboxes, on the database that the configuration names.
    ///
    /// - Returns: lines for people.
    /// - Throws: ``OutboxCommandError``, or what the database throws.
    func outbox(_ command: OutboxCommand) async throws -> [String]
}

/// Why a command about an outbox was not done whole: one line for people.
public struct OutboxCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// An error with its line.
    public init(_ description: String) { self.description = description }
}
