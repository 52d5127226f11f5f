import RPCTransport
import Synchronization

/// The channels that a service opened.
final class ChannelList: Sendable {
    private let list = Mutex<[RPCChannel]>([])

    /// The channels so far.
    var channels: [RPCChannel] { list.withLock { $0 } }

    func append(_ channel: RPCChannel) { list.withLock { $0.append(channel) } }

    /// New connections use the certificates that the files hold now.
    func reloadCertificates() async throws {
        for channel in channels { try await channel.reloadCertificates() }
    }
}
