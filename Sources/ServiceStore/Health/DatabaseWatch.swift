import Logging
import Postgres
import RPC
import ServiceKit
import Synchronization

/// Looks at the database each time the readiness probe asks, and remembers what it saw. Any thread.
final class DatabaseWatch: Sendable {
    /// A program doesn't start beside a database whose clock differs by more: tokens, sessions and codes would end at other times
    /// than they say.
    static let clockOffsetMax = 60.0

    private struct Memory {
        var state: DatabaseState?
        /// The last state of a server that wrote, and when it was seen.
        var written: (state: DatabaseState, milliseconds: Int64)?
        var refusedWrites = 0
        /// Whether a write was refused since one was tried with success.
        var isSuspect = false
    }

    private let database: PostgresClient
    private let logger: Logger
    private let nowMilliseconds: @Sendable () -> Int64
    private let memory = Mutex(Memory())

    /// - Parameter nowMilliseconds: this machine's time of day, in Unix milliseconds.
    init(_ database: PostgresClient, logger: Logger, nowMilliseconds: @escaping @Sendable () -> Int64) {
        self.database = database
        self.logger = logger
        self.nowMilliseconds = nowMilliseconds
    }

    /// Returns if the database answers and takes writes.
    ///
    /// - Throws: ``DatabaseFault``, or `PostgresError` if it can't be asked.
    func check(deadline: Deadline) async throws {
        let state = try await DatabaseState.read(
            from: database,
            nowMilliseconds: nowMilliseconds,
            deadline: deadline
        )
        let now = nowMilliseconds()
        let (isFirst, change) = memory.withLock { memory in
            defer {
                memory.state = state
                if state.timeline != nil { memory.written = (state, now) }
            }
            return (memory.state == nil, Self.change(from: memory.written, to: state, now: now))
        }
        if isFirst, abs(state.clockOffset) > Self.clockOffsetMax { throw DatabaseFault.clock(state.clockOffset) }
        if let change { logger.log(level: change.level, TimelineChange.message, metadata: change.metadata) }
        guard state.takesWrites else { throw DatabaseFault.readOnly }
        try await tryWriting(deadline)
    }

    private static func change(
        from written: (state: DatabaseState, milliseconds: Int64)?,
        to state: DatabaseState,
        now: Int64
    ) -> TimelineChange? {
        guard let written, let former = written.state.timeline, let timeline = state.timeline, former != timeline
        else { return nil }
        return TimelineChange(
            former: former,
            timeline: timeline,
            wasConfirmed: written.state.isConfirmed,
            lastSeenMilliseconds: written.milliseconds,
            noticedMilliseconds: now
        )
    }

    /// Tries it only after the server has refused a write.
    private func tryWriting(_ deadline: Deadline) async throws {
        let isSuspect = memory.withLock { memory in
            memory.isSuspect = memory.isSuspect || database.refusedWrites.total > memory.refusedWrites
            return memory.isSuspect
        }
        guard isSuspect else { return }
        // Before the trial: a write that is refused meanwhile has it tried again.
        let seen = database.refusedWrites.total
        do {
            try await DatabaseState.tryWriting(to: database, deadline: deadline)
        } catch let error as PostgresError where error.isRefusedWrite {
            throw error.sqlState == .diskFull ? DatabaseFault.diskFull : DatabaseFault.readOnly
        } catch let error as PostgresError where !error.isUnavailable {
            // The role may not write large objects here, so nothing can be tried: the next refused write shows it again.
            logger.warning("whether the database takes writes can't be tried", metadata: ["error": "\(error)"])
        }
        memory.withLock { memory in
            memory.refusedWrites = seen
            memory.isSuspect = false
        }
    }
}

extension DatabaseWatch: MetricsSource {
    /// Adds what was seen last; nothing before the database has answered.
    func write(to text: inout MetricsText) {
        guard let state = memory.withLock({ $0.state }) else { return }
        text.family(
            "vestibule_database_clock_offset_seconds",
            .gauge,
            help: "How far PostgreSQL's clock is ahead of this machine's.",
            [([], state.clockOffset)]
        )
        text.family(
            "vestibule_database_timeline",
            .gauge,
            help: "PostgreSQL's timeline. It changes when a standby is promoted and when a backup is restored.",
            state.timeline.map { [([], Double($0))] } ?? []
        )
    }
}

/// Why a database that answers can't be used.
enum DatabaseFault: Error, Hashable, CustomStringConvertible {
    /// Its disk has no room for new pages.
    case diskFull
    /// It is a standby, or was set to take no writes.
    case readOnly
    /// Its clock is ahead of this machine's by so many seconds, or behind it.
    case clock(Double)

    var description: String {
        switch self {
        case .diskFull: "PostgreSQL's disk is full: it refuses writes until there is room"
        case .readOnly: "PostgreSQL takes no writes: it is a standby, or default_transaction_read_only is on"
        case .clock(let offset):
            "PostgreSQL's clock is \(Int(abs(offset).rounded())) s \(offset > 0 ? "ahead of" : "behind") this machine's: set the clocks first, such as by NTP"
        }
    }
}
