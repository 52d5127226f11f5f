/// Whether a provider may be taken from an account now, by when its providers were linked.
///
/// A thief who has a session for a moment links a provider of their own. So for a day such a provider neither takes away one that was
/// there before it, nor is all that is left: in that time the owner is notified of it and can unlink it.
public enum ProviderRemoval {
    /// For how long a provider is too young to take an older one away.
    public static let waitMilliseconds: Int64 = 86_400_000

    /// When the providers of a removal were linked to the account, in Unix milliseconds.
    public struct LinkTimes: Sendable, Hashable {
        /// The one to remove.
        public let removed: Int64
        /// The one that opened the session that asks; it may be the one to remove.
        public let asking: Int64
        /// Those that would be left and can sign in, at least one.
        public let remaining: [Int64]

        /// The times of a removal.
        public init(removed: Int64, asking: Int64, remaining: [Int64]) {
            self.removed = removed
            self.asking = asking
            self.remaining = remaining
        }
    }

    /// Returns when a removal becomes possible, in Unix milliseconds; nil if it is possible now.
    public static func possibleFrom(_ times: LinkTimes, nowMilliseconds: Int64) -> Int64? {
        func isYoung(_ linked: Int64) -> Bool { .milliseconds(nowMilliseconds) - .milliseconds(linked) < wait }
        if isYoung(times.asking), times.removed < times.asking { return times.asking + waitMilliseconds }
        // An account that began today may go on with another provider today.
        guard !isYoung(times.removed), let oldest = times.remaining.min(), isYoung(oldest) else { return nil }
        return oldest + waitMilliseconds
    }

    private static let wait = Duration.milliseconds(waitMilliseconds)
}
