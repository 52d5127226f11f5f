import Bytes

/// How far the log of group changes was read: a set of its rows. A pure value.
///
/// The log is read in the order of (transaction, id), a page at a time, and a transaction that commits late is read when it becomes
/// visible. So a point is not a place in that order. It has all rows that ``snapshot`` sees and, of the one transaction in which a page
/// ended, the rows up to that end. The next page begins with the rest of that transaction, so that there is never more than one.
struct GroupLogPoint: Sendable, Hashable {
    /// The place of a row in the log.
    struct Row: Sendable, Hashable {
        let transaction: UInt64
        let id: Int64
    }

    /// All rows that it sees were read.
    let snapshot: DatabaseSnapshot
    /// The last row that was read of a transaction that ``snapshot`` doesn't see; nil if there is no such transaction.
    let partial: Row?

    /// A point that ends between transactions.
    init(_ snapshot: DatabaseSnapshot) {
        self.snapshot = snapshot
        partial = nil
    }

    /// A point inside a transaction; nil unless that is the first one after the snapshot, or one in progress in it.
    init?(_ snapshot: DatabaseSnapshot, partial: Row) {
        guard partial.transaction == snapshot.upper || snapshot.underWay.contains(partial.transaction) else {
            return nil
        }
        self.snapshot = snapshot
        self.partial = partial
    }

    /// Returns the point after a page that was read from here; nil if no page from here ends with the row.
    ///
    /// - Parameters:
    ///   - row: the last row of the page. The page has the rest of the transaction that was read in part, and then, in their order, all
    ///     other rows that `head` sees and this point doesn't have.
    ///   - head: the snapshot that the page was read by.
    func advanced(to row: Row, readBy head: DatabaseSnapshot) -> GroupLogPoint? {
        if let partial, partial.transaction == row.transaction { return GroupLogPoint(snapshot, partial: row) }
        // That transaction is read to its end. Before the row, everything that `head` sees is read; after it, nothing beyond the earlier
        // reads.
        let rest = snapshot.underWay.filter { $0 >= row.transaction && $0 != partial?.transaction }
        let underWay = head.underWay.filter { $0 < row.transaction } + rest
        let ended = partial.map { Checked($0.transaction) + 1 }?.value ?? 0
        let upper = max(snapshot.upper, row.transaction, ended)
        return DatabaseSnapshot(horizon: underWay.first ?? upper, upper: upper, underWay: underWay)
            .flatMap { GroupLogPoint($0, partial: row) }
    }

    /// Whether all rows of another point are in this one.
    func contains(_ other: GroupLogPoint) -> Bool {
        guard other.snapshot.upper <= snapshot.upper,
            snapshot.underWay.allSatisfy({ $0 >= other.snapshot.upper || other.snapshot.underWay.contains($0) })
        else { return false }
        guard let row = other.partial else { return true }
        if snapshot.sees(row.transaction) { return true }
        return partial.map { $0.transaction == row.transaction && $0.id >= row.id } ?? false
    }
}

extension GroupLogPoint {
    /// The unread part of the log, as parameters of a statement.
    struct Unread: Sendable {
        /// Transactions that were in progress, without the one that was read in part.
        let late: [String]
        /// The first transaction after all of them.
        let from: String
    }

    /// The unread part, except for the rest of the transaction that was read in part.
    var unread: Unread {
        let isBehind = partial?.transaction == snapshot.upper
        return Unread(
            late: snapshot.underWay.filter { $0 != partial?.transaction }.map(String.init),
            // A snapshot's numbers are not above Int64.max.
            from: String(isBehind ? snapshot.upper &+ 1 : snapshot.upper)
        )
    }

    /// The transaction that was read in part, as PostgreSQL reads it; 0, which no transaction has, if there is none.
    var partialText: String { String(partial?.transaction ?? 0) }
    /// The last row that was read of that transaction.
    var partialID: Int64 { partial?.id ?? 0 }
}
