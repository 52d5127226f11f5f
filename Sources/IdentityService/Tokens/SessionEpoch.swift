import Postgres
import RPC
import Synchronization

/// From when on sessions count, as the database said within the last second, so that checks of sessions need not read it
/// each time. Any thread; a check that finds it young enough neither waits nor locks.
///
/// After half a second one call reads it anew while others go on with what is known. After a second nothing is known: each
/// call reads it, and fails if it can't. Time counts from before it was read.
///
/// What was seen is never taken back: an older copy of the database has ended no fewer sessions, whatever it says.
final class SessionEpoch: Sendable {
    /// For how long it is known.
    static let knownNanoseconds: UInt64 = 1_000_000_000
    /// How old it is when one call reads it anew.
    static let renewedNanoseconds: UInt64 = 500_000_000

    private let microseconds = Atomic<Int64>(.min)
    /// When the read began whose answer is known; 0 before the first one.
    private let readAt = Atomic<UInt64>(0)
    private let isBeingRenewed = Atomic(false)
    private let nowNanoseconds: @Sendable () -> UInt64
    private let read: @Sendable (Deadline?) async throws -> PostgresTimestamp?

    /// An epoch that nothing is known of yet.
    ///
    /// - Parameters:
    ///   - nowNanoseconds: a clock that nobody sets.
    ///   - read: asks the database; nil if the epoch isn't there.
    init(
        nowNanoseconds: @escaping @Sendable () -> UInt64,
        read: @escaping @Sendable (Deadline?) async throws -> PostgresTimestamp?
    ) {
        self.nowNanoseconds = nowNanoseconds
        self.read = read
    }

    /// Sessions that were begun before this count as ended. Without an epoch that is all of them.
    ///
    /// - Throws: what the database throws, if nothing is known.
    nonisolated(nonsending) func sessionsFrom(deadline: Deadline?) async throws -> PostgresTimestamp {
        let now = nowNanoseconds()
        let readAt = readAt.load(ordering: .acquiring)
        guard readAt != 0, now &- readAt < Self.knownNanoseconds else { return try await readAnew(deadline) }
        let known = PostgresTimestamp(microsecondsSince1970: microseconds.load(ordering: .relaxed))
        guard now &- readAt >= Self.renewedNanoseconds, !isBeingRenewed.exchange(true, ordering: .relaxed) else {
            return known
        }
        defer { isBeingRenewed.store(false, ordering: .relaxed) }
        do {
            return try await readAnew(deadline)
        } catch {
            guard nowNanoseconds() &- readAt < Self.knownNanoseconds else { throw error }
            return known
        }
    }

    private nonisolated(nonsending) func readAnew(_ deadline: Deadline?) async throws -> PostgresTimestamp {
        let begun = nowNanoseconds()
        guard let read = try await read(deadline) else { return PostgresTimestamp(microsecondsSince1970: .max) }
        // In this order, for who reads them in the other. A read that was overtaken by a later one changes nothing.
        let before = microseconds.max(read.microsecondsSince1970, ordering: .relaxed).newValue
        readAt.max(begun, ordering: .releasing)
        return PostgresTimestamp(microsecondsSince1970: before)
    }
}
