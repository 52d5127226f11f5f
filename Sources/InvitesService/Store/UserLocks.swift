import Models
import Postgres
import ServiceModels

/// The locks that order the changes of one user: rows of a table of fixed size, so that no trace of a user is left.
///
/// A claim of a number, a request to join and anything else that makes a user a member shares the user's lock; a closing, and the hold of
/// an absorption, takes it exclusively. Two users may have one lock in common, and wait for each other for the moment of a short
/// transaction. (Rows, since every role of the database could take an advisory lock.)
///
/// They come before all other locks, in the order of their numbers, and a transaction takes all the locks that it needs in one statement.
enum UserLocks {
    /// The number of locks.
    static let count: UInt64 = 1_024

    /// The table, with a row for each lock.
    static let table = """
        CREATE TABLE user_locks (lock smallint PRIMARY KEY);
        INSERT INTO user_locks SELECT generate_series(0, \(count - 1));
        """

    /// The numbers of the users' locks.
    static func numbers(of users: some Sequence<UserID>) -> [Int16] {
        // Ids end with random bits.
        Set(users.map { Int16($0.uuid.low % count) }).sorted()
    }

    /// Waits until no transaction shares the user's lock, and takes it exclusively until the transaction ends.
    static func lock(_ userID: UserID, in transaction: PostgresTransaction) async throws {
        try await transaction.query(
            "SELECT FROM user_locks WHERE lock = ANY(\(numbers(of: [userID]))) ORDER BY lock FOR UPDATE"
        )
    }

    /// Shares the users' locks until the transaction ends; only closings and holds are excluded.
    static func share(_ users: some Sequence<UserID>, in transaction: PostgresTransaction) async throws {
        let numbers = numbers(of: users)
        guard !numbers.isEmpty else { return }
        try await transaction.query(
            "SELECT FROM user_locks WHERE lock = ANY(\(numbers)) ORDER BY lock FOR SHARE"
        )
    }
}
