import Synchronization

/// Something that knows metrics. Asked on the thread that serves them, which it may hold up for a moment.
public protocol MetricsSource: Sendable {
    /// Adds whole families; no other source may add the same.
    func write(to text: inout MetricsText)
}
