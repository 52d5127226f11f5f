import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A lock by a file, over all processes and within one. The system frees it when the process ends.
struct FileLock: Sendable {
    /// How long it takes until a waiter looks again. A blocking `flock` would hold a thread of Swift's.
    private static let pauses: (first: Duration, longest: Duration) = (.milliseconds(2), .milliseconds(50))

    private let descriptor: Int32

    /// Waits for the lock. The file is never removed: another process may be waiting for it.
    ///
    /// - Throws: if the file can't be opened; `CancellationError` if the task is cancelled.
    init(_ file: URL) async throws {
        descriptor = open(file.path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StoreFailure(errno) }
        var pause = Self.pauses.first
        do {
            while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                guard errno == EWOULDBLOCK || errno == EINTR else { throw StoreFailure(errno) }
                try await Task.sleep(for: pause * Double.random(in: 0.5...1))
                pause = min(pause * 2, Self.pauses.longest)
            }
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Frees the lock. Called once.
    func free() { close(descriptor) }
}
