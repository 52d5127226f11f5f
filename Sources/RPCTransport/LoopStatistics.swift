import CRPC
import RPC

/// What a loop has done since it was made.
public struct LoopStatistics: Sendable {
    /// How long its turns took, from the moment that there was something to do until the loop waited again. What arrives
    /// during a turn waits for the end of the turn, so this is the delay that the loop can cause.
    public let turns: TimeStatistics
    /// The age of the current turn, in nanoseconds. 0 if the loop waits.
    public let turnAgeNanoseconds: UInt64
    /// Connections that servers accepted, and how many of them have ended.
    public let serverConnections: OpenedAndClosed
    /// Connections that channels made, and how many of them have ended.
    public let clientConnections: OpenedAndClosed
    /// Requests that came, and that have ended.
    public let serverStreams: OpenedAndClosed
    /// Requests that were sent, and that have ended.
    public let clientStreams: OpenedAndClosed
    /// Calls that were refused because there were too many, or their client made the server hold too much.
    public let callsShed: UInt64
    /// Connections that were ended because their client asked too much: floods.
    public let connectionsDismissed: UInt64
    /// Connections that were ended before their handshake was done, to make room for others.
    public let handshakesDropped: UInt64
    /// Connections that were ended while they had no call, to make room for others.
    public let connectionsEvicted: UInt64
    /// Connections that were not taken, since their address had too many.
    public let connectionsRefused: UInt64
    /// Bytes that clients of its servers make it hold now: answers, requests and messages on their way.
    public let heldBytes: UInt64
    /// Handlers of calls that run now, whether or not their calls have ended.
    public let handlers: UInt64
    /// Bytes of HTTP that came.
    public let receivedBytes: UInt64
    /// Bytes of HTTP that went out.
    public let sentBytes: UInt64

    /// How many there were, and how many of them are over.
    public struct OpenedAndClosed: Sendable {
        /// All that there were.
        public let opened: UInt64
        /// Those that have ended.
        public let closed: UInt64
        /// Those that are there now.
        public var current: UInt64 { opened > closed ? opened - closed : 0 }
    }

    init(_ raw: crpc_loop_stats, nowNanoseconds: UInt64) {
        var raw = raw
        turns = TimeStatistics(counts: counters(&raw.turns, of: UInt64.self), sumNanoseconds: raw.busy_ns)
        let isInTurn = raw.turn_began_ns != 0 && nowNanoseconds > raw.turn_began_ns
        turnAgeNanoseconds = isInTurn ? nowNanoseconds - raw.turn_began_ns : 0
        serverConnections = OpenedAndClosed(
            opened: raw.server_connections_opened,
            closed: raw.server_connections_closed
        )
        clientConnections = OpenedAndClosed(
            opened: raw.client_connections_opened,
            closed: raw.client_connections_closed
        )
        serverStreams = OpenedAndClosed(opened: raw.server_streams_opened, closed: raw.server_streams_closed)
        clientStreams = OpenedAndClosed(opened: raw.client_streams_opened, closed: raw.client_streams_closed)
        callsShed = raw.calls_shed
        connectionsDismissed = raw.connections_dismissed
        handshakesDropped = raw.handshakes_dropped
        connectionsEvicted = raw.connections_evicted
        connectionsRefused = raw.connections_refused
        heldBytes = raw.held_bytes
        handlers = raw.handlers
        receivedBytes = raw.received_bytes
        sentBytes = raw.sent_bytes
    }
}

extension EventLoop {
    /// What it has done. Any thread, also while the loop is busy.
    public var statistics: LoopStatistics {
        var raw = crpc_loop_stats()
        crpc_loop_read_stats(handle, &raw)
        return LoopStatistics(raw, nowNanoseconds: Deadline.now().nanoseconds)
    }
}

extension EventLoopGroup {
    /// The calls that were made on these loops and have ended, by method. One that was tried again counts once. Any thread.
    public var clientCalls: [CallStatistics] { loops.map(\.clientCalls).sums(MethodOrdinals.paths) }
}

extension RPCServer {
    /// The calls that have ended, by method, and last those to unknown ones. A call still in progress is not counted. Any
    /// thread; empty before `start` and after `shutdown`.
    public var calls: [CallStatistics] { callTables.sums(methodPaths + ["other"]) }
}
