/// A queue in a ring: constant time at both ends, and no allocation once it has grown to its working size.
struct FIFO<Element> {
    private var ring: [Element?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var first: Element? { count == 0 ? nil : ring[head] }

    mutating func append(_ element: Element) {
        if count == ring.count { grow() }
        ring[(head + count) & (ring.count - 1)] = element
        count += 1
    }

    @discardableResult
    mutating func removeFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = ring[head]
        ring[head] = nil
        head = (head + 1) & (ring.count - 1)
        count -= 1
        return element
    }

    /// Drops the first element, if there is one.
    mutating func discardFirst() {
        guard count > 0 else { return }
        ring[head] = nil
        head = (head + 1) & (ring.count - 1)
        count -= 1
    }

    func forEach(_ body: (Element) -> Void) {
        for offset in 0..<count {
            if let element = ring[(head + offset) & (ring.count - 1)] { body(element) }
        }
    }

    /// Takes out all that match, the rest keep their order.
    mutating func removeAll(where matches: (Element) -> Bool) -> [Element] {
        var removed: [Element] = []
        for _ in 0..<count {
            guard let element = removeFirst() else { break }
            if matches(element) { removed.append(element) } else { append(element) }
        }
        return removed
    }

    /// The capacity stays a power of two, so that the index is a mask.
    private mutating func grow() {
        var larger = [Element?](repeating: nil, count: max(16, ring.count * 2))
        for offset in 0..<count { larger[offset] = ring[(head + offset) & (ring.count - 1)] }
        ring = larger
        head = 0
    }
}
