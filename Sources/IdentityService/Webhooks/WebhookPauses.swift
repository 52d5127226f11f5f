/// When to retry an event that a target didn't take.
enum WebhookPauses {
    /// How long an event is tried.
    static let triedMilliseconds: Int64 = 3 * 86_400_000
    /// The pause after the first try, and the longest one.
    static let firstMilliseconds: Int64 = 5_000
    static let longestMilliseconds: Int64 = 6 * 3_600_000

    /// The time of the next try. The pause triples after each try, up to six hours, with a random quarter more or less. The last
    /// try is when the event's time is over; nil if it was over already.
    ///
    /// - Parameters:
    ///   - tries: the number of tries, at least 1.
    ///   - triedFromMilliseconds: when it was first tried.
    ///   - wishMilliseconds: the pause that the target asks for, which counts up to the longest pause.
    ///   - random: a number in `0..<1`.
    static func next(
        tries: Int,
        triedFromMilliseconds: Int64,
        wishMilliseconds: Int64 = 0,
        nowMilliseconds: Int64,
        random: Double
    ) -> Int64? {
        let end = triedFromMilliseconds + triedMilliseconds
        guard nowMilliseconds < end else { return nil }
        var pause = firstMilliseconds
        // Nine triplings are more than the longest pause.
        for _ in 1..<min(max(tries, 1), 10) { pause *= 3 }
        pause = min(pause, longestMilliseconds)
        let jittered = Int64(Double(pause) * (0.75 + random / 2))
        return min(nowMilliseconds + max(jittered, min(wishMilliseconds, longestMilliseconds)), end)
    }
}
