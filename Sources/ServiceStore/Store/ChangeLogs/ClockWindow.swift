/// How far a log was read whose rows have the time at which they were written, for a database without snapshots that can be compared. A
/// pure value.
///
/// A row becomes visible when its transaction commits, perhaps after younger rows were read. So each read begins before the end of the
/// previous one, and leaves out the rows that are known: a little before in most reads. Once in ``sweepMicroseconds`` it begins ``latenessMax``
/// before the last such read, since what became visible after that one is no older. So every row that is visible within ``latenessMax`` of its
/// time is read exactly once, however long the pauses between reads are.
///
/// Of a position that a client hands back only ``end`` is left. What is read from there has all rows behind it, and some before it again.
public struct ClockWindow<ID: Hashable & Sendable>: Sendable, Hashable {
    /// How late a row may become visible, in microseconds: twice the longest transaction of the engine
    /// `distributed`, for the difference of the servers' clocks and a commit that takes long.
    public static var latenessMax: Int64 { 60_000_000 }
    /// How far before its end a usual read begins, in microseconds.
    static var recentMicroseconds: Int64 { 2_000_000 }
    /// How often a read has all late rows, in microseconds.
    static var sweepMicroseconds: Int64 { 5_000_000 }
    /// How far the database's clock may go back between two reads, in microseconds: the difference between servers that answer in turn. After
    /// a larger step reading begins anew.
    public static var stepBackMax: Int64 { 5_000_000 }
    /// The maximum of known rows: 6,000 in each second. With more, reading begins anew.
    public static var knownMax: Int { 360_000 }

    /// A row of the log: its id and its time, in microseconds since 1970.
    public struct Row: Sendable, Hashable {
        /// Its id.
        public let id: ID
        /// Its time.
        public let microseconds: Int64

        /// A row.
        public init(id: ID, microseconds: Int64) { (self.id, self.microseconds) = (id, microseconds) }
    }

    /// The database's time up to which rows were read, except late ones, in microseconds since 1970.
    public let end: Int64
    /// The end of the last read that had all late rows.
    private let sweptAt: Int64
    /// Older rows are not read.
    private let floor: Int64
    /// Rows that were read and may be found again, with their times.
    private let known: [ID: Int64]

    /// What is known of a log when reading begins, or goes on at an end that a client handed back.
    ///
    /// - Parameters:
    ///   - end: microseconds since 1970; at least ``latenessMax``.
    ///   - known: the rows that are visible within ``latenessMax`` before it and are not to be read; of more than ``knownMax`` the first ones.
    public init(end: Int64, known: [Row] = []) {
        let known = Dictionary(known.prefix(Self.knownMax).map { ($0.id, $0.microseconds) }) { $1 }
        self.init(end: end, sweptAt: end, floor: .min, known: known)
    }

    private init(end: Int64, sweptAt: Int64, floor: Int64, known: [ID: Int64]) {
        (self.end, self.sweptAt, self.floor, self.known) = (end, sweptAt, floor, known)
    }

    /// Whether an end that a client handed back may be used: a time between 1970 and 9999, so that sums with it can't overflow.
    public static func isUsable(end: Int64) -> Bool { latenessMax...253_402_300_799_000_000 ~= end }

    private var sweeps: Bool { end < sweptAt || end - sweptAt >= Self.sweepMicroseconds }

    /// The time from which the next read reads, in microseconds since 1970.
    public var start: Int64 {
        max(floor, sweeps ? min(sweptAt, end) - Self.latenessMax : end - Self.recentMicroseconds)
    }

    /// The rows that the next read leaves out.
    public var leftOut: [ID] { known.lazy.filter { $0.value >= start }.map(\.key) }

    /// The time from which everything is read that a client may have missed who comes back with this end, in microseconds since 1970.
    public var missedFrom: Int64 { end - Self.latenessMax }

    /// The window after a read from here.
    ///
    /// - Parameters:
    ///   - rows: the rows that it returned, or the first of them, in the order of their times.
    ///   - now: the database's time at the read; nil if there are more rows than these.
    /// - Returns: nil if it is unknown what was missed, so that reading has to begin anew: the clock was set back, or too many rows are known.
    public func advanced(by rows: ArraySlice<Row>, now: Int64?) -> Self? {
        if let now, now < end - Self.stepBackMax { return nil }
        // With rows left, the next read has to begin before them, whatever their age.
        let last = rows.last.map { min(max($0.microseconds, Self.latenessMax), end) }
        let reached = now ?? last ?? end
        let isSwept = now != nil && sweeps
        var (known, floor) = (known, floor)
        if isSwept {
            floor = max(floor, reached - Self.latenessMax)
            known = known.filter { $0.value >= floor }
        }
        for row in rows { known[row.id] = row.microseconds }
        guard known.count <= Self.knownMax else { return nil }
        let swept = isSwept ? reached : now == nil ? min(sweptAt, reached) : sweptAt
        return Self(end: reached, sweptAt: swept, floor: floor, known: known)
    }
}
