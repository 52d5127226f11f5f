import CRPC
import RPC

/// The bounds of a connection, for servers and clients. What a peer gets that goes past one is told at each; "dismissed"
/// means GOAWAY with ENHANCE_YOUR_CALM (RFC 9113 section 7), then the end of the connection, which others do not notice.
public struct ConnectionLimits: Sendable, Hashable {
    /// Calls that a client may have in flight on one connection (SETTINGS_MAX_CONCURRENT_STREAMS). A server runs twice as
    /// many handlers for calls of one connection, those of calls among them that have ended; past it RESOURCE_EXHAUSTED.
    public var streamsMax = 256
    /// Bytes of one received message; past it RESOURCE_EXHAUSTED.
    public var messageBytesMax = 4 << 20
    /// Bytes of one received header block: names, values and 32 for each (RFC 9113 section 6.5.2); past it
    /// RESOURCE_EXHAUSTED, and four times as many in its compressed form are dismissed.
    public var headerBytesMax = 16_384
    /// Frames of one received header block after its first; past it the peer is dismissed.
    public var continuationsMax = 8
    /// Bytes that a peer may send on one stream before they are taken off.
    public var streamWindowBytes = 256 << 10
    /// Bytes that a peer may send on all streams of a connection before they are taken off.
    public var connectionWindowBytes = 1 << 20
    /// Bytes that one client may make a server hold on a connection: answers that it does not take, messages that it does
    /// not send to the end, messages of a stream that no handler has read (with 96 for each), requests and metadata of calls
    /// that are being answered. Past half of it the client may send on only as messages are read. While there are more,
    /// another call or message gets RESOURCE_EXHAUSTED. A client's connections have no such bound.
    public var bufferedBytesMax = 24 << 20
    /// Frames that wait to be sent to a client; past it the client is dismissed. At least four for each stream.
    public var queuedFramesMax = 8192
    /// What a peer may have us do beside its calls, as `crpc_limits.h` counts it: a frame that carries no message
    /// costs 1, PING 2, SETTINGS 10, a wasted call 12; calls that are answered bring it back. Without any left the peer
    /// is dismissed.
    public var creditMax = 10_000
    /// How much of that comes back each second.
    public var creditPerSecond = 2000
    /// Time for connecting, TLS and the peer's first SETTINGS; and for each frame that was begun to be whole.
    public var handshakeTimeout: Duration = .seconds(10)
    /// Time without a call after which a connection is drained; zero for never.
    public var idleTimeout: Duration = .zero
    /// Time in which a peer that lets bytes wait must take 16 KB of them, or all.
    public var writeStallTimeout: Duration = .seconds(20)
    /// Time for which an answer that is complete, or has 64 KB queued, may wait for the client to take any of it; past it the
    /// call is reset. Also, while a client has more than half of `bufferedBytesMax` held, for which a handler may leave
    /// messages unread; past it the call ends with RESOURCE_EXHAUSTED.
    public var answerStallTimeout: Duration = .seconds(30)
    /// Time for a received message that was begun to be whole; past it the call ends with DEADLINE_EXCEEDED.
    public var messageTimeout: Duration = .seconds(60)
    /// Time for calls to finish once draining began.
    public var drainTimeout: Duration = .seconds(20)
    /// A server's connections are drained at this age, a tenth more or less; zero for never.
    public var connectionAgeMax: Duration = .zero
    /// Time that the calls of such a connection have to finish.
    public var connectionAgeGrace: Duration = .seconds(20)
    /// Time without anything received after which a PING asks whether the peer is there (gRFC A8); zero for never.
    public var keepaliveInterval: Duration = .zero
    /// Time in which something must come then; else the connection ends, and its calls with UNAVAILABLE.
    public var keepaliveTimeout: Duration = .seconds(20)
    /// Whether a client asks also while it has no calls. A server always does.
    public var keepaliveWithoutCalls = false
    /// Least time between PINGs that a server takes from a client while it sends it nothing; without calls two hours,
    /// unless `permitsPingsWithoutCalls`. Sooner is a strike; zero for any time.
    public var pingIntervalMin: Duration = .seconds(300)
    /// Strikes past which a client is dismissed with "too_many_pings". What the server sends wipes them out.
    public var pingStrikesMax = 2
    /// Whether `pingIntervalMin` holds also while there are no calls.
    public var permitsPingsWithoutCalls = false

    /// The default bounds.
    public init() {}

    var raw: crpc_limits {
        crpc_limits(
            streams_max: UInt32(clamping: streamsMax),
            message_bytes_max: UInt32(clamping: messageBytesMax),
            header_bytes_max: UInt32(clamping: headerBytesMax),
            continuations_max: UInt32(clamping: continuationsMax),
            stream_window_bytes: UInt32(clamping: streamWindowBytes),
            connection_window_bytes: UInt32(clamping: connectionWindowBytes),
            buffered_bytes_max: UInt32(clamping: bufferedBytesMax),
            queued_frames_max: UInt32(clamping: queuedFramesMax),
            credit_max: UInt32(clamping: creditMax),
            credit_per_second: UInt32(clamping: creditPerSecond),
            handshake_timeout_ms: handshakeTimeout.wholeMilliseconds,
            idle_timeout_ms: idleTimeout.wholeMilliseconds,
            write_stall_timeout_ms: writeStallTimeout.wholeMilliseconds,
            answer_stall_timeout_ms: answerStallTimeout.wholeMilliseconds,
            message_timeout_ms: messageTimeout.wholeMilliseconds,
            drain_timeout_ms: drainTimeout.wholeMilliseconds,
            connection_age_max_ms: connectionAgeMax.wholeMilliseconds,
            connection_age_grace_ms: connectionAgeGrace.wholeMilliseconds,
            keepalive_interval_ms: keepaliveInterval.wholeMilliseconds,
            keepalive_timeout_ms: keepaliveTimeout.wholeMilliseconds,
            keepalive_without_calls: keepaliveWithoutCalls,
            ping_interval_min_ms: pingIntervalMin.wholeMilliseconds,
            ping_strikes_max: UInt32(clamping: pingStrikesMax),
            permits_pings_without_calls: permitsPingsWithoutCalls
        )
    }
}

extension Duration {
    fileprivate var wholeMilliseconds: UInt32 { UInt32(clamping: wholeNanoseconds / 1_000_000) }
}
