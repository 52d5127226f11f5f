/// The line about each second while a run goes on.
public enum LiveLine {
    /// Rate, p50, p99 and errors of a second, and how far the run is.
    ///
    /// - Parameters:
    ///   - errorCount: errors since the measured time began.
    ///   - totalSeconds: how long is measured.
    public static func text(_ second: RunReport.Second, errorCount: Int, totalSeconds: Int) -> String {
        let width = String(totalSeconds).count
        return "\(Figures.right(String(second.index + 1), width))/\(totalSeconds) s"
            + "\(Figures.right(Figures.rate(second.ratePerSecond), 10)) calls/s"
            + "  p50\(Figures.right(Figures.latency(nanoseconds: second.p50Nanoseconds), 9))"
            + "  p99\(Figures.right(Figures.latency(nanoseconds: second.p99Nanoseconds), 9))"
            + "  errors \(Figures.count(errorCount))"
    }

    /// How far a preparation is, with a bar of 24 places.
    public static func progress(_ title: String, done: Int, of total: Int) -> String {
        let places = total == 0 ? 24 : min(24, done * 24 / total)
        let bar = String(repeating: "#", count: places) + String(repeating: ".", count: 24 - places)
        return "\(Figures.left(title, 8)) [\(bar)] \(Figures.count(done))/\(Figures.count(total))"
    }
}
