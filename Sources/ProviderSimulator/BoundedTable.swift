/// Values by key, of which there are never more than a maximum: the oldest is forgotten first.
struct BoundedTable<Value: Sendable>: Sendable {
    /// The most values.
    let countMax: Int
    private var values: [String: Value] = [:]
    /// The keys in the order in which they came; a ring once it is full.
    private var keys: [String] = []
    private var oldest = 0

    init(countMax: Int) {
        precondition(countMax > 0, "a table holds something")
        self.countMax = countMax
    }

    /// How many there are.
    var count: Int { values.count }

    /// The value of a key; nil if it never was or was pushed out.
    subscript(key: String) -> Value? { values[key] }

    /// Keeps a value, under a new key or in place of the one that was there.
    mutating func keep(_ value: Value, as key: String) {
        if values.updateValue(value, forKey: key) != nil { return }
        if keys.count < countMax {
            keys.append(key)
        } else {
            values[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % countMax
        }
    }

    /// All values, the one that came last first.
    var newestFirst: [Value] {
        let order = keys[oldest...] + keys[..<oldest]
        return order.reversed().compactMap { values[$0] }
    }
}
