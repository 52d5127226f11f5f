/// The progress line of each second of a run.
public enum LiveLine {
    /// Rate, p50, p99 and errors of a second, and the progress of the run.
    ///
    /// - Parameters:
    ///   - errorCount: errors since the measured time began.
    ///   - totalSeconds: the length of the measured time.
    public static func text(_ second: RunReport.Second, errorCount: Int, totalSeconds: Int) -> String {
        let width = String(totalSeconds).count
        return "\(Figures.right(String(second.index + 1), width))/\(totalSeconds) s"
            + "\(Figures.right(Figures.rate(second.ratePerSecond), 10)) calls/s"
            + "  p50\(Figures.right(Figures.latency(nanoseconds: second.p50Nanoseconds), 9))"
            + "  p99\(Figures.right(Figures.latency(nanoseconds: second.p99Nanoseconds), 9))"
            + "  errors \(Figures.count(errorCount))"
    }

    /// The progress of a preparation, with a bar of 24 characters.
    public static func progress(_ title: String, done: Int, of total: Int) -> String {
        let places = total == 0 ? 24 : min(24, done * 24 / total)
        let bar = String(repeating: "#", count: places) + String(repeating: ".", count: 24 - places)
        return "\(Figures.left(title, 8)) [\(bar)] \(Figures.count(done))/\(Figures.count(total))"
    }
}
