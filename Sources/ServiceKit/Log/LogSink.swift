import Dispatch
import Glibc
import Logging
import Synchronization

/// Writes log lines to a file descriptor from a thread of its own, so that a slow reader of the log never holds up
/// an event loop: what doesn't fit into the buffer is dropped and counted.
public final class LogSink: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var droppedCount = 0
        var isWriting = false
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "vestibule.log")
    private let fileDescriptor: Int32
    private let bytesMax: Int

    /// A sink.
    ///
    /// - Parameters:
    ///   - fileDescriptor: where the lines go; it stays open.
    ///   - bytesMax: how many bytes may wait to be written.
    public init(fileDescriptor: Int32, bytesMax: Int = 1 << 20) {
        self.fileDescriptor = fileDescriptor
        self.bytesMax = bytesMax
    }

    /// Takes a line, with its line end. Any thread; never waits for the reader.
    func append(_ line: [UInt8]) {
        let mustStart = state.withLock { state in
            guard state.pending.count + line.count <= bytesMax else {
                state.droppedCount += 1
                return false
            }
            state.pending += line
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { queue.async { self.writePending() } }
    }

    /// Waits until all that was taken is written, or the limit has passed. For the end of a process.
    public func flush(limit: Duration = .seconds(1)) {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        let (seconds, attoseconds) = limit.components
        _ = done.wait(
            timeout: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        )
    }

    private func writePending() {
        while true {
            let (bytes, droppedCount) = state.withLock { state in
                let taken = (state.pending, state.droppedCount)
                state.pending = []
                state.droppedCount = 0
                if taken.0.isEmpty && taken.1 == 0 { state.isWriting = false }
                return taken
            }
            if bytes.isEmpty && droppedCount == 0 { return }
            write(bytes)
            if droppedCount > 0 {
                let notice = LogLine(
                    timestamp: .now,
                    level: .warning,
                    label: "log",
                    message: "log lines were dropped",
                    facts: [("count", .stringConvertible(droppedCount))]
                )
                write(notice.bytes(.json))
            }
        }
    }

    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = Glibc.write(fileDescriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var poll = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
                    _ = Glibc.poll(&poll, 1, 1000)
                } else if errno != EINTR {
                    return  // Nobody reads any more; there is nowhere to say so.
                }
            }
        }
    }
}
