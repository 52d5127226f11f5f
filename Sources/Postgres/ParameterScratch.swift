/// The arrays that libpq takes parameters in, kept from statement to statement. One connection's.
///
/// Memory of its own and no Swift arrays, whose every use here would count references.
final class ParameterScratch {
    private var capacity = 0
    private var values = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: 0)
    private var lengths = UnsafeMutablePointer<Int32>.allocate(capacity: 0)
    private var formats = UnsafeMutablePointer<Int32>.allocate(capacity: 0)

    deinit { deallocate() }

    /// Calls the body with a query's parameters. libpq copies them before it returns.
    func withPointers(
        _ query: Query,
        _ body: (UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?) -> Int32
    ) -> Int32 {
        let count = query.parameterCount
        if count == 0 { return body(nil, nil, nil) }
        if count > capacity { grow(to: count) }
        return query.parameters.withUnsafeBytes { bytes in
            var offset = 0
            for place in 0..<count {
                let length = bytes.bigEndian(offset + 4, as: Int32.self)
                offset += 8
                // An empty value is a pointer with length zero; NULL is no pointer.
                let start = bytes.baseAddress.map { ($0 + offset).assumingMemoryBound(to: CChar.self) }
                values[place] = length < 0 ? nil : start
                lengths[place] = max(length, 0)
                offset += Int(max(length, 0))
            }
            return body(values, lengths, formats)
        }
    }

    private func grow(to count: Int) {
        deallocate()
        capacity = max(16, count)
        values = .allocate(capacity: capacity)
        lengths = .allocate(capacity: capacity)
        formats = .allocate(capacity: capacity)
        // All of them binary.
        formats.initialize(repeating: 1, count: capacity)
    }

    private func deallocate() {
        values.deallocate()
        lengths.deallocate()
        formats.deallocate()
    }
}
