import Logging
import Postgres
import RPC
import RPCTransport
import ServiceKit
import Synchronization

/// What a running service is given to build its parts from.
public struct ServiceEnvironment: Sendable {
    /// The event loops, on which everything of the service runs.
    public let group: EventLoopGroup
    /// The service's database, on those loops.
    public let database: PostgresClient
    /// The service's logger.
    public let logger: Logger
    /// The service's metrics; each part adds its own.
    public let metrics: MetricsRegistry
    /// Whether the metrics are served; expensive ones are measured only then.
    public let isMeasured: Bool
    let certificates: CertificateMetrics
    let channelSettings: ChannelConfiguration
    let channels: ChannelList

    /// A channel to another service on these loops, round robin over its addresses and with TLS as configured. The
    /// runtime runs it and closes it at the end. To be made while the parts are built: calls over one that is made later
    /// inherit nothing from the handler's call. Throws `TransportError` for a target that can't be one.
    public func channel(to addresses: AddressList) throws -> RPCChannel {
        let channel = try RPCChannel(target: addresses.description, group: group, configuration: channelSettings)
        channels.append(channel)
        return channel
    }

    /// The same for what runs beside the calls: no handler calls over it, and so calls needn't hand anything on.
    public func backgroundChannel(to addresses: AddressList) throws -> RPCChannel {
        let channel = try RPCChannel(target: addresses.description, group: group, configuration: channelSettings)
        channels.append(channel, isForHandlers: false)
        return channel
    }
}
