import CRPC
import RPC

/// One connection to an address of a channel. Kept alive by the C layer until the connection has ended. Loop thread only.
final class ClientConnection {
    private var handle: OpaquePointer?
    private weak var subchannel: Subchannel?

    /// Begins to connect. Throws `TransportError` where not even that is possible.
    ///
    /// - Parameter isExtra: whether there are others to the address; then it ends when it is not used for a while.
    init(subchannel: Subchannel, loop: EventLoop, configuration: ChannelConfiguration, tls: TLSRules?, isExtra: Bool)
        throws
    {
        self.subchannel = subchannel
        let (address, target) = (subchannel.endpoint.address, subchannel.endpoint.target)
        var bounds = configuration.limits
        bounds.keepaliveInterval = subchannel.keepalive.current
        if isExtra, bounds.idleTimeout == .zero { bounds.idleTimeout = configuration.extraConnectionIdleTimeout }
        var limits = bounds.raw
        let context = Unmanaged.passRetained(self)
        let code = address.withCString { address in
            target.authority.withCString { authority in
                (configuration.serverName ?? target.host).withCString { name in
                    crpc_connection_connect(
                        loop.handle,
                        address,
                        UInt16(target.port),
                        authority,
                        tls?.handle,
                        name,
                        &limits,
                        ClientCallbacks.table,
                        context.toOpaque(),
                        &handle
                    )
                }
            }
        }
        do {
            try TransportError.check(code, "connecting to \(target.authority)")
        } catch {
            context.release()  // no callback will do it
            throw error
        }
    }

    /// Whether it takes another call.
    var hasRoom: Bool { handle.map(crpc_connection_has_room) ?? false }

    /// Puts a call on a stream. Throws UNAVAILABLE if the connection takes none, or INTERNAL where the request itself
    /// cannot be sent.
    func open(_ call: ClientCall) throws(RPCError) {
        var stream: OpaquePointer?
        let retained = Unmanaged<ClientCall>.passRetained(call)
        var path = call.method.path
        let code = path.withUTF8 { path in
            path.withMemoryRebound(to: CChar.self) { path in
                call.metadataToSend.packed.withUnsafeBufferPointer { metadata in
                    crpc_stream_open(
                        handle,
                        path.baseAddress,
                        path.count,
                        call.deadline == .never ? 0 : call.deadline.nanoseconds,
                        call.sendsGzip,
                        metadata.baseAddress,
                        metadata.count,
                        retained.toOpaque(),
                        &stream
                    )
                }
            }
        }
        guard code == 0, let stream else {
            retained.release()  // no callback will do it
            if code == CRPC_ERROR_ARGUMENT.rawValue {
                throw RPCError(.internalError, "the metadata has an entry that may not be sent")
            }
            throw RPCError(.unavailable, "the connection takes no call: \(String(cString: crpc_error_text(code)))")
        }
        call.stream = stream
        call.opened(stream)
    }

    /// Lets the calls there finish and closes.
    func drain() {
        if let handle { crpc_connection_drain(handle) }
    }

    /// Closes; `closed` follows in this turn.
    func close() {
        if let handle { crpc_connection_close(handle) }
    }

    func opened() { subchannel?.opened(self) }

    /// Whether the server ended it because it was asked too often whether it is there.
    var hasPingedTooOften: Bool { handle.map(crpc_connection_has_pinged_too_often) ?? false }

    func isDraining() { subchannel?.isDraining(self) }

    func closed(_ error: Int32) {
        handle = nil
        subchannel?.closed(self, error)
    }
}
