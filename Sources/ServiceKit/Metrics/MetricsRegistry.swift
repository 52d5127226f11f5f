import Synchronization

/// The sources of a process. Any thread.
public final class MetricsRegistry: Sendable {
    private let sources = Mutex<[any MetricsSource]>([])

    /// Without any source yet.
    public init() {}

    /// Adds a source, whose families follow those of the sources before it.
    public func add(_ source: any MetricsSource) { sources.withLock { $0.append(source) } }

    /// All metrics as they are now.
    public var text: String {
        var text = MetricsText()
        for source in sources.withLock({ $0 }) { source.write(to: &text) }
        return text.text
    }
}

/// Sums of things that happen now and then, one for each combination of label values that was named beforehand. For what
/// happens with every call, `CallStatistics` costs less.
public final class CounterFamily: MetricsSource {
    /// One sum.
    public final class Counter: Sendable {
        private let sum = Atomic<UInt64>(0)

        /// A counter at zero.
        public init() {}

        /// Adds to it. Any thread; never waits.
        public func add(_ more: UInt64 = 1) { sum.wrappingAdd(more, ordering: .relaxed) }

        /// The sum so far.
        public var value: UInt64 { sum.load(ordering: .relaxed) }
    }

    /// Most combinations of label values.
    public static let countersMax = 4096

    private let name: StaticString
    private let help: StaticString
    private let labels: [String]
    private let counters: [(values: [String], counter: Counter)]

    /// A family; its name ends with `_total`.
    ///
    /// - Parameter values: for each counter, the values of the labels in their order.
    public init(_ name: StaticString, help: StaticString, labels: [String] = [], values: [[String]] = [[]]) {
        precondition(values.count <= Self.countersMax && values.allSatisfy { $0.count == labels.count })
        self.name = name
        self.help = help
        self.labels = labels
        counters = values.map { ($0, Counter()) }
    }

    /// The counter of the values at that place.
    public subscript(index: Int) -> Counter { counters[index].counter }

    /// Adds the family.
    public func write(to text: inout MetricsText) {
        text.family(
            name,
            .counter,
            help: help,
            counters.map { (zip(labels, $0.values).map { ($0, $1) }, Double($0.counter.value)) }
        )
    }
}
