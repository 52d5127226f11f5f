/// How long messages of a stream were under way, by the receiver's monotonic clock alone.
///
/// A message says when it was sent, by a clock that may differ from ours by any amount. The difference between that time and the time
/// of arrival is the same for all messages but for how long each was under way; so a message that was under way for longer than the fastest
/// of the last seconds was under way for that much at least. Not known, and counted as nothing, is how long the fastest was under way.
///
/// The fastest of two windows counts, so that clocks that drift (500 millionths are 20 ms in two windows) or are set are followed. A pure
/// value: times are passed in.
struct NewsAge {
    /// The length of one window.
    static let window: Duration = .seconds(20)

    private var shortest: Duration?
    private var shortestBefore: Duration?
    private var windowBegan: Duration?

    /// How long a message was under way that arrived.
    ///
    /// - Parameters:
    ///   - sentAtMilliseconds: when they were sent, in Unix milliseconds of the sender's clock.
    ///   - arrivedAt: by our monotonic clock, since any moment.
    mutating func age(sentAtMilliseconds: Int64, arrivedAt: Duration) -> Duration {
        let difference = arrivedAt - .milliseconds(sentAtMilliseconds)
        if let began = windowBegan, arrivedAt - began < Self.window {
            shortest = min(shortest ?? difference, difference)
        } else {
            // After a pause, too: what waited meanwhile must not look young.
            (shortestBefore, shortest, windowBegan) = (shortest, difference, arrivedAt)
        }
        return difference - min(shortest ?? difference, shortestBefore ?? difference, difference)
    }
}
