/// How often a user may do something with phone numbers within a window of time: try numbers of other users, or take free ones.
///
/// "This number is taken" reveals that its owner is a user, so a client must not be able to ask about a whole phone book. Only tries with
/// this outcome are counted: a mistyped number reveals nothing, and a free one becomes the user's own. Free ones are counted apart:
/// otherwise a user could take all free numbers one after the other.
public struct TryLimit: Sendable, Hashable {
    /// The failed tries of a user within the current window.
    public struct Count: Sendable, Hashable {
        /// When the window's first try failed, in Unix milliseconds.
        public let windowStartMilliseconds: Int64
        /// How many tries failed since.
        public let tries: Int

        /// A count.
        public init(windowStartMilliseconds: Int64, tries: Int) {
            self.windowStartMilliseconds = windowStartMilliseconds
            self.tries = tries
        }
    }

    /// The most failed tries within a window.
    public let triesMax: Int
    /// How long a window is, from its first failed try.
    public let windowMilliseconds: Int64

    /// A limit. Both numbers must be positive.
    public init(triesMax: Int = 10, windowMilliseconds: Int64 = 3_600_000) {
        precondition(triesMax > 0 && windowMilliseconds > 0, "a limit that allows nothing is a mistake")
        self.triesMax = triesMax
        self.windowMilliseconds = windowMilliseconds
    }

    /// How long the user must wait before the next try, in milliseconds; nil if they may try now.
    public func waitMilliseconds(after count: Count?, nowMilliseconds: Int64) -> Int64? {
        guard let count, isCurrent(count, nowMilliseconds: nowMilliseconds), count.tries >= triesMax else {
            return nil
        }
        // At least 1 and at most a window, even if the clock went back since the count began.
        return min(max(count.windowStartMilliseconds + windowMilliseconds - nowMilliseconds, 1), windowMilliseconds)
    }

    /// The count after one more failed try.
    public func counting(_ count: Count?, nowMilliseconds: Int64) -> Count {
        guard let count, isCurrent(count, nowMilliseconds: nowMilliseconds) else {
            return Count(windowStartMilliseconds: nowMilliseconds, tries: 1)
        }
        return Count(windowStartMilliseconds: count.windowStartMilliseconds, tries: count.tries + 1)
    }

    private func isCurrent(_ count: Count, nowMilliseconds: Int64) -> Bool {
        nowMilliseconds < count.windowStartMilliseconds + windowMilliseconds
    }
}
