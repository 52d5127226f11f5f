/// How often something may be done within a window of time that begins with the first. Counted in the database, so that
/// all replicas of a service count together.
public struct Quota: Sendable, Hashable {
    /// What is counted, a word that is stored with the count.
    public let kind: String
    /// How often it may be done.
    public let countMax: Int
    /// How long a window is, in milliseconds.
    public let windowMilliseconds: Int64

    /// A quota. Both numbers must be positive.
    public init(kind: String, countMax: Int, windowMilliseconds: Int64) {
        precondition(countMax > 0 && windowMilliseconds > 0, "a quota that allows nothing is a mistake")
        self.kind = kind
        self.countMax = countMax
        self.windowMilliseconds = windowMilliseconds
    }

    /// A quota for each day.
    public static func daily(_ kind: String, countMax: Int) -> Quota {
        Quota(kind: kind, countMax: countMax, windowMilliseconds: 86_400_000)
    }
}
