import Dispatch
import Glibc
import Logging
import Synchronization

/// Writes log lines to a file descriptor from a thread of its own, so that a slow reader of the log never holds up
/// an event loop: what doesn't fit into the buffer is dropped and counted.
///
/// To wake that thread costs more than a call that is logged. So it stays awake for a moment after each write, and what comes
/// meanwhile is written together at its end: a line is written at once if it is urgent or the first for a while, else within
/// ``lingerMilliseconds``.
public final class LogSink: Sendable {
    /// How long lines may wait for others.
    static let lingerMilliseconds = 10

    private struct State {
        var pending: [UInt8] = []
        var droppedCount = 0
        var isWriting = false
        var isHurried = false
    }
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "vestibule.log")
    /// Ends the moment that the thread stays awake for.
    private let bell = DispatchSemaphore(value: 0)
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

    private enum Wake {
        case nobody, writer, bell
    }

    /// Takes a line, with its line end. Any thread; never waits for the reader.
    ///
    /// - Parameter isUrgent: whether it is written at once, with what came before it.
    func append(_ line: UnsafeBufferPointer<UInt8>, isUrgent: Bool = false) {
        let wake = state.withLock { state -> Wake in
            guard state.pending.count + line.count <= bytesMax else {
                state.droppedCount += 1
                return .nobody
            }
            state.pending.append(contentsOf: line)
            if !state.isWriting {
                state.isWriting = true
                return .writer
            }
            guard !state.isHurried, isUrgent || state.pending.count > bytesMax / 4 else { return .nobody }
            state.isHurried = true
            return .bell
        }
        switch wake {
        case .nobody: break
        case .writer: queue.async { self.writePending() }
        case .bell: bell.signal()
        }
    }

    /// Waits until all that was taken is written, or the limit has passed. For the end of a process.
    public func flush(limit: Duration = .seconds(1)) {
        let done = DispatchSemaphore(value: 0)
        queue.async { done.signal() }
        bell.signal()
        let (seconds, attoseconds) = limit.components
        _ = done.wait(
            timeout: .now() + .seconds(Int(seconds)) + .nanoseconds(Int(attoseconds / 1_000_000_000))
        )
    }

    private func writePending() {
        // Two pieces of memory take turns while there is something to write, and go at its end.
        var bytes: [UInt8] = []
        while true {
            bytes.removeAll(keepingCapacity: true)
            let droppedCount = state.withLock { state in
                swap(&state.pending, &bytes)
                let droppedCount = state.droppedCount
                state.droppedCount = 0
                state.isHurried = false
                if bytes.isEmpty && droppedCount == 0 {
                    state.isWriting = false
                    state.pending = []
                }
                return droppedCount
            }
            if bytes.isEmpty && droppedCount == 0 { return }
            bytes.withUnsafeBufferPointer { write($0) }
            if droppedCount > 0 {
                LogLineHead(.json, .warning, label: "log", message: "log lines were dropped")
                    .writeLine(at: .now) {
                        $0.add("count", Int64(droppedCount))
                    } take: {
                        write($0)
                    }
            }
            _ = bell.wait(timeout: .now() + .milliseconds(Self.lingerMilliseconds))
        }
    }

    private func write(_ bytes: UnsafeBufferPointer<UInt8>) {
        var rest = UnsafeRawBufferPointer(bytes)[...]
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
