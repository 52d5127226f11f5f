import RPC

/// The methods of a router by their paths: a hash table with open addressing, made once. The hash need not resist attacks, since
/// clients can't add entries: a look-up compares a few paths at most.
struct PathTable: Sendable {
    private var slots: [MethodHandler?]
    private let mask: Int

    init(_ methods: [MethodHandler]) {
        var capacity = 8
        while capacity < methods.count * 4 { capacity *= 2 }
        slots = Array(repeating: nil, count: capacity)
        mask = capacity - 1
        for method in methods {
            var index = Self.hash(method.descriptor.path) & mask
            while slots[index] != nil { index = (index + 1) & mask }
            slots[index] = method
        }
    }

    subscript(path: String) -> MethodHandler? {
        var index = Self.hash(path) & mask
        while let method = slots[index] {
            if method.descriptor.path == path { return method }
            index = (index + 1) & mask
        }
        return nil
    }

    /// Hashes the length and the last bytes, in which methods differ. A path's text is contiguous, so it isn't copied.
    private static func hash(_ path: String) -> Int {
        path.utf8.withContiguousStorageIfAvailable(hash) ?? Array(path.utf8).withUnsafeBufferPointer(hash)
    }

    private static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let count = bytes.count
        var hash = UInt64(count)
        if count >= 16 {
            let raw = UnsafeRawBufferPointer(bytes)
            hash ^= raw.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self) &* 0x9e37_79b9_7f4a_7c15
            hash ^= raw.loadUnaligned(fromByteOffset: count - 16, as: UInt64.self) &* 0xbf58_476d_1ce4_e5b9
        } else {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        }
        return Int(truncatingIfNeeded: (hash ^ (hash >> 32)) & 0x7fff_ffff)
    }
}
