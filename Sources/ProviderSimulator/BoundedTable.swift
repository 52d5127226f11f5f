/// Values by key, never more than a maximum: the oldest is dropped first.
struct BoundedTable<Value: Sendable>: Sendable {
    /// The maximum of values.
    let countMax: Int
    private var values: [String: Value] = [:]
    /// The keys in the order of insertion; a ring once it is full.
    private var keys: [String] = []
    private var oldest = 0

    init(countMax: Int) {
        precondition(countMax > 0, "a table holds something")
        self.countMax = countMax
    }

    /// The number of values.
    var count: Int { values.count }

    /// The value of a key; nil if there was none or it was dropped.
    subscript(key: String) -> Value? { values[key] }

    /// Stores a value, under a new key or in place of the key's old value.
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

    /// All values, the newest first.
    var newestFirst: [Value] {
        let order = keys[oldest...] + keys[..<oldest]
        return order.reversed().compactMap { values[$0] }
    }
}
