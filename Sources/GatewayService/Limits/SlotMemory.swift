import Glibc

/// Numbers that are zero until they are written, in memory of the kernel's own that is resident only where it was written: an
/// array of zeros would be written, and so be resident, from the first moment.
///
/// One owner, who frees it at its end. The caller sees to it that only one thread uses it at a time.
///
/// Unchecked: the pointer is private and no copy of it leaves, so what is sent to another thread is the only one there is.
struct SlotMemory: ~Copyable, @unchecked Sendable {
    private let slots: UnsafeMutableBufferPointer<UInt64>

    /// Zeros.
    ///
    /// - Parameter count: how many; above zero. Without memory for them the program ends, as it does for an array.
    init(zeros count: Int) {
        precondition(count > 0, "the kernel maps no empty range")
        let bytes = count * MemoryLayout<UInt64>.stride
        let mapped = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let mapped, mapped != MAP_FAILED else { fatalError("no memory for limits: error \(errno)") }
        slots = UnsafeMutableBufferPointer(start: mapped.bindMemory(to: UInt64.self, capacity: count), count: count)
    }

    deinit {
        let status = munmap(slots.baseAddress, slots.count * MemoryLayout<UInt64>.stride)
        assert(status == 0, "the range is the one that was mapped")
    }

    /// A slot; the index is checked, in release builds too, which a buffer pointer alone does not.
    subscript(index: Int) -> UInt64 {
        get {
            precondition(slots.indices.contains(index))
            return slots[index]
        }
        set {
            precondition(slots.indices.contains(index))
            slots[index] = newValue
        }
    }
}
