import CRPC
import RPC

/// The bounds of a connection, for servers and clients. What happens to a peer that exceeds one is said at each. "Dismissed"
/// means GOAWAY with ENHANCE_YOUR_CALM (RFC 9113 section 7) and the end of the connection. Other connections are not affected.
public struct ConnectionLimits: Sendable, Hashable {
    /// Calls that a client may have in flight on one connection (SETTINGS_MAX_CONCURRENT_STREAMS). A server runs at most twice
    /// as many handlers for one connection, counting handlers whose calls have ended. More streams are refused
    /// (REFUSED_STREAM); a call past the handlers gets RESOURCE_EXHAUSTED.
    public var streamsMax = 256
    /// Bytes of one received message. A larger one ends the call with RESOURCE_EXHAUSTED.
    public var messageBytesMax = 4 << 20
    /// Bytes of one received header block: names, values, and 32 for each entry (RFC 9113 section 6.5.2). A larger one ends
    /// the call with RESOURCE_EXHAUSTED. A peer is dismissed if the compressed block has more than four times
    /// as many.
    public var headerBytesMax = 16_384
    /// CONTINUATION frames of one received header block. With more the peer is dismissed.
    public var continuationsMax = 8
    /// The flow-control window of a stream, in bytes. A stream that sends past it is reset with FLOW_CONTROL_ERROR.
    public var streamWindowBytes = 256 << 10
    /// The flow-control window of a connection, in bytes. A peer that sends past it gets GOAWAY with FLOW_CONTROL_ERROR, and
    /// the connection ends.
    public var connectionWindowBytes = 1 << 20
    /// Bytes that one client may make a server hold on a connection: answers that it does not take, messages that it does
    /// not send to the end, messages of a stream that no handler has read (with 96 for each), requests and metadata of calls
    /// that are being answered. Past half of it the client may send on only as messages are read. While it holds more than
    /// this, another call or message gets RESOURCE_EXHAUSTED. A client's connections have no such bound.
    public var bufferedBytesMax = 24 << 20
    /// Frames that may wait to be sent to a client, at least four for each stream. With more the client is dismissed.
    public var queuedFramesMax = 8192
    /// The credit of a peer, against floods: what it may have us do beside its calls. A frame that carries no message costs
    /// 1, PING 2, SETTINGS 10, a wasted call 12; calls that are answered bring it back. `crpc_limits.h` has all prices.
    /// A peer without credit is dismissed.
    public var creditMax = 10_000
    /// How much of that comes back each second.
    public var creditPerSecond = 2000
    /// Time for connecting, TLS and the peer's first SETTINGS. Also the time in which a frame, but DATA, must be complete
    /// once it began. After either the connection ends.
    public var handshakeTimeout: Duration = .seconds(10)
    /// Time without a call after which a connection is drained (GOAWAY). Zero: never.
    public var idleTimeout: Duration = .zero
    /// Time in which a peer must read 16 KB, or all, of the bytes that wait to be sent to it. Else the connection ends, and
    /// its calls with it.
    public var writeStallTimeout: Duration = .seconds(20)
    /// Time in which a client must take 4 KB, or all, of an answer that is complete or has 64 KB queued; past it the call is reset.
    /// Time in which the socket is full does not count, which `writeStallTimeout` bounds.
    /// While a client has more than half of `bufferedBytesMax` held, a handler may also leave messages unread
    /// for no longer than this; past it the call ends with RESOURCE_EXHAUSTED.
    public var answerStallTimeout: Duration = .seconds(30)
    /// Time in which a message must be complete once it began to arrive. Then the call ends with DEADLINE_EXCEEDED.
    public var messageTimeout: Duration = .seconds(60)
    /// Time for calls to finish once draining began. Then the connection ends, and the calls that are left with it.
    public var drainTimeout: Duration = .seconds(20)
    /// Fields of a request that is no gRPC call; past it, as past `headerBytesMax`, it is refused as `HTTPError.headTooLarge`.
    public var headerFieldsMax = 100
    /// HTTP/1.x: time for the head of a request from its first byte on, and for the first one since the connection was accepted, or
    /// since its TLS handshake. Then it is refused as `HTTPError.headTimeout`, or closed where nothing has come.
    public var headTimeout: Duration = .seconds(10)
    /// Time for the whole body of a request that is no gRPC call, since its head. Then `HTTPBodyFailure.timeout`.
    public var bodyTimeout: Duration = .seconds(30)
    /// HTTP/1.x: time without a request after which a connection is closed. Zero: never.
    public var keepAliveTimeout: Duration = .seconds(60)
    /// HTTP/1.x: requests of one connection, the last of which is answered with Connection: close. Zero: no bound.
    public var requestsPerConnectionMax = 0
    /// Age at which a server drains a connection, with a jitter of 10 % either way. Zero: never.
    public var connectionAgeMax: Duration = .zero
    /// Time that the calls of such a connection have to finish. Then it ends, and the calls that are left with it.
    public var connectionAgeGrace: Duration = .seconds(20)
    /// Time without anything received after which a PING is sent to see whether the peer is there (gRFC A8). Zero: never.
    public var keepaliveInterval: Duration = .zero
    /// Time in which something must arrive after that PING. Else the connection ends, and its calls with UNAVAILABLE.
    public var keepaliveTimeout: Duration = .seconds(20)
    /// Whether a client sends these PINGs also while it has no calls. A server always does.
    public var keepaliveWithoutCalls = false
    /// Least time between a client's PINGs while the server sends nothing; without calls two hours at least, unless
    /// `permitsPingsWithoutCalls`. A PING that comes sooner is a strike. Zero: PINGs may come at any time.
    public var pingIntervalMin: Duration = .seconds(300)
    /// Strikes past which a client is dismissed with "too_many_pings". A message or head that the server sends wipes them out.
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
            header_fields_max: UInt32(clamping: headerFieldsMax),
            head_timeout_ms: headTimeout.wholeMilliseconds,
            body_timeout_ms: bodyTimeout.wholeMilliseconds,
            keep_alive_timeout_ms: keepAliveTimeout.wholeMilliseconds,
            requests_per_connection_max: UInt32(clamping: requestsPerConnectionMax),
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
