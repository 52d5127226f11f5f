/// A command about work that is held: parked, or waiting for its next try. Each service has it as `work`, and `vestibule work` asks all.
public enum WorkCommand: Sendable, Hashable {
    /// Lists held work, oldest first, at most so many; of one queue if it is named; with work that wasn't tried yet if asked for.
    case list(queue: String?, includesWaiting: Bool, limit: Int, showsNumbers: Bool)
    /// Shows all details of an item, or of all items that deliver one event.
    case show(WorkName, showsNumbers: Bool)
    /// Retries held work from now on.
    case retry(WorkSelection)
    /// Deletes parked work.
    case discard([WorkName])
}

/// How an operator names work of a service: by the number that `list` shows, or by the id of the event that it delivers.
public enum WorkName: Sendable, Hashable, CustomStringConvertible {
    /// The number of the row.
    case number(Int64)
    /// A UUID in lower case: for webhooks their `webhook-id`.
    case event(String)

    /// A name from its text; nil if it is malformed.
    public init?(_ text: String) {
        if let number = Int64(text) {
            guard number > 0 else { return nil }
            self = .number(number)
            return
        }
        let text = text.lowercased()
        let groups = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        guard groups == [8, 4, 4, 4, 12], text.allSatisfy({ $0.isHexDigit && $0.isASCII || $0 == "-" }) else {
            return nil
        }
        self = .event(text)
    }

    /// The number or the id.
    public var description: String {
        switch self {
        case .number(let number): "\(number)"
        case .event(let id): id
        }
    }
}

/// Which held work an operator means.
public enum WorkSelection: Sendable, Hashable {
    /// All of the service.
    case all
    /// All of a queue.
    case queue(String)
    /// These items.
    case names([WorkName])
}

/// A service whose held work operators can look at.
public protocol WorkServer: MigratingServer {
    /// Runs an operator's command on the database that the configuration names.
    ///
    /// - Returns: lines for people.
    /// - Throws: ``WorkCommandError``, or the database's errors.
    func work(_ command: WorkCommand) async throws -> [String]
}

/// Why a command was not done completely: one line for people.
public struct WorkCommandError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line.
    public let description: String

    /// An error with its line.
    public init(_ description: String) { self.description = description }
}
