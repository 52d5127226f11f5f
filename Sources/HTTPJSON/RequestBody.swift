import Synchronization

/// Collects the body of a request for its handler. Any thread: a route may wait on another one than its connection's.
///
/// States: COMING → WHOLE, or one of the other ends; the first one counts. At most one waits.
final class RequestBody: Sendable {
    /// How a body ended.
    enum End: Sendable {
        /// Well.
        case whole
        /// It is larger than it may be, or more than the client may have us hold.
        case tooLarge
        /// It broke the rules of its framing.
        case malformed
        /// It did not come in time.
        case late
        /// The exchange ended before it.
        case gone
    }

    private struct State {
        var bytes: [UInt8] = []
        var end: End?
        var waiting: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    /// Whether nothing more of it comes.
    var isWhole: Bool { state.withLock { $0.end == .whole } }

    /// Keeps bytes, and whether it did: those of a body that has ended, or is longer than it may be, are dropped.
    func append(_ bytes: UnsafeRawBufferPointer, bytesMax: Int) -> Bool {
        let (isKept, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Void, Never>?) in
            guard state.end == nil else { return (false, nil) }
            guard state.bytes.count + bytes.count <= bytesMax else { return (false, Self.end(.tooLarge, &state)) }
            state.bytes.append(contentsOf: bytes)
            return (true, nil)
        }
        waiting?.resume()
        return isKept
    }

    /// Ends it.
    func end(_ end: End) { state.withLock { Self.end(end, &$0) }?.resume() }

    private static func end(_ end: End, _ state: inout State) -> CheckedContinuation<Void, Never>? {
        guard state.end == nil else { return nil }
        state.end = end
        if end != .whole { state.bytes = [] }
        defer { state.waiting = nil }
        return state.waiting
    }

    /// Waits for the end of the body. One caller at a time; the bytes are given once.
    func collected() async -> (bytes: [UInt8], end: End) {
        if let ended = take() { return ended }
        await withCheckedContinuation { continuation in
            let isLate = state.withLock { state in
                guard state.end == nil else { return true }
                precondition(state.waiting == nil, "two wait for one body")
                state.waiting = continuation
                return false
            }
            if isLate { continuation.resume() }
        }
        return take() ?? ([], .gone)
    }

    private func take() -> (bytes: [UInt8], end: End)? {
        state.withLock { state in
            guard let end = state.end else { return nil }
            defer { state.bytes = [] }
            return (state.bytes, end)
        }
    }
}
