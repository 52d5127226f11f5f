import CRPC
import RPC

/// The bounds of a connection, for servers and clients.
public struct ConnectionLimits: Sendable, Hashable {
    /// Calls that a client may have in flight on one connection (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var streamsMax = 1024
    /// Bytes of one received message.
    public var messageBytesMax = 4 << 20
    /// Bytes of one received header block: names, values and 32 for each (RFC 9113 section 6.5.2).
    public var headerBytesMax = 16_384
    /// Bytes that a peer may send on one stream before they are taken off.
    public var streamWindowBytes = 256 << 10
    /// Bytes that a peer may send on all streams of a connection before they are taken off.
    public var connectionWindowBytes = 1 << 20
    /// Time for connecting, TLS and the peer's first SETTINGS.
    public var handshakeTimeout: Duration = .seconds(10)
    /// Time without a call after which a connection is drained; zero for never.
    public var idleTimeout: Duration = .zero
    /// Time for which a peer may take none of the bytes that wait for it.
    public var writeStallTimeout: Duration = .seconds(20)
    /// Time for calls to finish once draining began.
    public var drainTimeout: Duration = .seconds(20)

    /// The default bounds.
    public init() {}

    var raw: crpc_limits {
        crpc_limits(
            streams_max: UInt32(clamping: streamsMax),
            message_bytes_max: UInt32(clamping: messageBytesMax),
            header_bytes_max: UInt32(clamping: headerBytesMax),
            stream_window_bytes: UInt32(clamping: streamWindowBytes),
            connection_window_bytes: UInt32(clamping: connectionWindowBytes),
            handshake_timeout_ms: handshakeTimeout.wholeMilliseconds,
            idle_timeout_ms: idleTimeout.wholeMilliseconds,
            write_stall_timeout_ms: writeStallTimeout.wholeMilliseconds,
            drain_timeout_ms: drainTimeout.wholeMilliseconds
        )
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: UInt32 { UInt32(clamping: wholeNanoseconds / 1_000_000) }
}
