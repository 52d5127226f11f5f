import ArgumentParser
import RPCTransport

/// Limits that tests set lower, so as to reach them soon.
struct LimitOptions: ParsableArguments {
    @Option(help: "The most bytes of a request's message.")
    var messageBytesMax = ConnectionLimits().messageBytesMax

    @Option(help: "Connections at once.")
    var connectionsMax = ServerConfiguration().connectionsMax

    @Option(help: "Calls in flight at once.")
    var callsMax = ServerConfiguration().callsMax

    @Option(help: "Bytes that clients may make the server hold.")
    var heldBytesMax = ServerConfiguration().heldBytesMax

    @Option(help: "Time for TLS, the first SETTINGS and each frame to be whole, in milliseconds.")
    var handshakeTimeoutMs: Int?

    @Option(help: "Time in which a client must take some of the bytes that wait for it, in milliseconds.")
    var writeStallTimeoutMs: Int?

    @Option(help: "Time for which a complete answer may wait for the client's windows, in milliseconds.")
    var answerStallTimeoutMs: Int?

    @Option(help: "Time for a message to be whole, in milliseconds.")
    var messageTimeoutMs: Int?

    @Option(help: "HTTP/1.x: time for the head of a request, in milliseconds.")
    var headTimeoutMs: Int?

    @Option(help: "Time for the body of a request that is no gRPC call, in milliseconds.")
    var bodyTimeoutMs: Int?

    @Option(help: "HTTP/1.x: time without a request after which a connection is closed, in milliseconds.")
    var keepAliveTimeoutMs: Int?

    func apply(to configuration: inout ServerConfiguration) {
        configuration.limits.messageBytesMax = messageBytesMax
        configuration.connectionsMax = connectionsMax
        configuration.callsMax = callsMax
        configuration.heldBytesMax = heldBytesMax
        set(&configuration.limits.handshakeTimeout, handshakeTimeoutMs)
        set(&configuration.limits.writeStallTimeout, writeStallTimeoutMs)
        set(&configuration.limits.answerStallTimeout, answerStallTimeoutMs)
        set(&configuration.limits.messageTimeout, messageTimeoutMs)
        set(&configuration.limits.headTimeout, headTimeoutMs)
        set(&configuration.limits.bodyTimeout, bodyTimeoutMs)
        set(&configuration.limits.keepAliveTimeout, keepAliveTimeoutMs)
    }

    private func set(_ limit: inout Duration, _ milliseconds: Int?) {
        if let milliseconds { limit = .milliseconds(milliseconds) }
    }
}
