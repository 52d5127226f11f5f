import CRPC
import RPC

/// The events that a file descriptor is watched for, or that have happened.
public struct FileInterest: OptionSet, Sendable {
    /// The bits, those of the C layer.
    public let rawValue: Int32
    /// An interest of those bits.
    public init(rawValue: Int32) { self.rawValue = rawValue }
    /// There is something to read, or the end.
    public static let readable = FileInterest(rawValue: Int32(CRPC_READABLE))
    /// Something can be written.
    public static let writable = FileInterest(rawValue: Int32(CRPC_WRITABLE))
    /// Hang-up or error. Reported always.
    public static let failed = FileInterest(rawValue: Int32(CRPC_FAILED))
}

/// A file descriptor that a loop watches, level-triggered. The watch does not own the descriptor. Loop thread only.
public final class FileWatch {
    private let loop: EventLoop
    private let handler: (FileInterest) -> Void
    private var handle: OpaquePointer?

    fileprivate init(
        loop: EventLoop,
        fileDescriptor: Int32,
        interest: FileInterest,
        handler: @escaping (FileInterest) -> Void
    ) throws {
        self.loop = loop
        self.handler = handler
        // Unretained: the watch is freed at the latest with this object.
        let context = Unmanaged.passUnretained(self).toOpaque()
        try TransportError.check(
            crpc_watch_new(
                loop.handle,
                fileDescriptor,
                interest.rawValue,
                { context, ready in
                    guard let context else { return }
                    Unmanaged<FileWatch>.fromOpaque(context).takeUnretainedValue().fire(FileInterest(rawValue: ready))
                },
                context,
                &handle
            ),
            "watching a file"
        )
    }

    private func fire(_ ready: FileInterest) { handler(ready) }

    /// Changes what the file is watched for.
    public func setInterest(_ interest: FileInterest) {
        loop.preconditionIsCurrent()
        // It fails only for a descriptor that was closed under the watch, which is a fault of the caller.
        if let handle { precondition(crpc_watch_set_interest(handle, interest.rawValue) == 0, "the file was closed") }
    }

    /// Ends the watch: the handler never runs again. Must be called before the file is closed.
    public func cancel() {
        guard let handle else { return }
        loop.preconditionIsCurrent()
        self.handle = nil
        crpc_watch_free(handle)
    }

    deinit { cancel() }
}

extension EventLoop {
    /// Watches a file descriptor. Loop thread. Throws `TransportError` if the system refuses.
    public func watch(
        fileDescriptor: Int32,
        interest: FileInterest,
        handler: @escaping (FileInterest) -> Void
    ) throws -> FileWatch {
        preconditionIsCurrent()
        return try FileWatch(loop: self, fileDescriptor: fileDescriptor, interest: interest, handler: handler)
    }
}
