import RPCTransport
import Synchronization

/// The channels that a service opened.
final class ChannelList: Sendable {
    private let list = Mutex<(channels: [RPCChannel], hasHandlers: Bool)>(([], false))

    /// The channels so far.
    var channels: [RPCChannel] { list.withLock { $0.channels } }

    /// Whether handlers of calls use one of them.
    var isForHandlers: Bool { list.withLock { $0.hasHandlers } }

    func append(_ channel: RPCChannel, isForHandlers: Bool = true) {
        list.withLock { list in
            list.channels.append(channel)
            if isForHandlers { list.hasHandlers = true }
        }
    }

    /// New connections use the certificates that the files hold now.
    func reloadCertificates() async throws {
        for channel in channels { try await channel.reloadCertificates() }
    }
}
