import Foundation
import VestibuleClient

/// A transport whose requests all end when its client is dropped.
// What changes is guarded by `lock`.
final class DroppableTransport: HTTPTransport, @unchecked Sendable {
    private let lock = NSLock()
    private var transport: (any HTTPTransport)? =
        CommandLine.arguments.contains("--urlsession") ? Vestibule.defaultTransport() : SocketTransport()

    func stream(_ request: HTTPRequest) async throws -> HTTPStream {
        guard let transport = lock.withLock({ transport }) else { throw CancellationError() }
        return try await transport.stream(request)
    }

    func close() { drop() }

    func drop() {
        lock.withLock {
            defer { transport = nil }
            return transport
        }?.close()
    }
}
