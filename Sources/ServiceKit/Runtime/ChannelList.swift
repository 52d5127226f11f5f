import RPCTransport
import Synchronization

/// The channels that a service opened.
final class ChannelList: Sendable {
    let channels = Mutex<[RPCChannel]>([])

    /// Whether none was opened.
    var isEmpty: Bool { channels.withLock { $0.isEmpty } }

    /// New connections use the certificates that the files hold now.
    func reloadCertificates() async throws {
        for channel in channels.withLock({ $0 }) { try await channel.reloadCertificates() }
    }

    func close() async {
        let channels = channels.withLock { channels in
            defer { channels = [] }
            return channels
        }
        for channel in channels { await channel.close() }
    }
}
