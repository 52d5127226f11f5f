/// When an event is tried again that a target didn't take.
enum WebhookPauses {
    /// For how long an event is tried.
    static let triedMilliseconds: Int64 = 3 * 86_400_000
    /// The pause after the first try, and the longest one.
    static let firstMilliseconds: Int64 = 5_000
    static let longestMilliseconds: Int64 = 6 * 3_600_000

    /// When it is tried again: three times as late after each try, up to six hours, a quarter more or less by chance, and for the
    /// last time when its time is over. Nil if it was over.
    ///
    /// - Parameters:
    ///   - tries: how often it was tried, at least 1.
    ///   - triedFromMilliseconds: since when.
    ///   - wishMilliseconds: how long the target wants to be left alone, which counts up to the longest pause.
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
        // Nine are more than the longest.
        for _ in 1..<min(max(tries, 1), 10) { pause *= 3 }
        pause = min(pause, longestMilliseconds)
        let jittered = Int64(Double(pause) * (0.75 + random / 2))
        return min(nowMilliseconds + max(jittered, min(wishMilliseconds, longestMilliseconds)), end)
    }
}
