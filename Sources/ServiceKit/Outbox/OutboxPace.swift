/// How many events are handed on at once: half as many after a batch that didn't succeed as a whole, so that an event at
/// fault ends up alone and a slow receiver gets what it can do in time; twice as many while it is quick. A pure value.
struct OutboxPace: Hashable {
    /// The most.
    let eventsMax: Int
    /// A delivery that took longer leaves the number as it is.
    let quick: Duration
    /// The number for the next batch.
    private(set) var eventCount: Int

    init(eventsMax: Int, quick: Duration) {
        self.eventsMax = max(1, eventsMax)
        self.quick = quick
        eventCount = self.eventsMax
    }

    /// A batch was delivered.
    mutating func succeeded(took: Duration) {
        if took <= quick { eventCount = min(eventsMax, eventCount * 2) }
    }

    /// The receiver refused a batch of so many events, or failed on it.
    mutating func failed(events: Int) { eventCount = max(1, min(eventCount, events) / 2) }
}
