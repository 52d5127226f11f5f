import CRPC
import RPC

/// What the C layer calls for a server's connections. All on the loop's thread.
enum ServerCallbacks {
    /// The table of a server of gRPC calls alone, made once and never freed.
    nonisolated(unsafe) static let calls: UnsafePointer<crpc_server_callbacks> = {
        // Sound because it is never written again once it is here.
        let table = UnsafeMutablePointer<crpc_server_callbacks>.allocate(capacity: 1)
        table.initialize(
            to: crpc_server_callbacks(
                on_open: { _, connection in opened(connection) },
                on_connection_close: { _, peer in
                    if let peer { Unmanaged<PeerInfo>.fromOpaque(peer).release() }
                },
                on_empty: { server in
                    if let server { Unmanaged<LoopListener>.fromOpaque(server).takeUnretainedValue().isEmpty() }
                },
                on_call: { server, peer, stream, request in began(server, peer, stream, request) },
                on_message: { call, message, isLast in
                    guard let call, let message else { return }
                    let bytes = UnsafeRawBufferPointer(start: message.pointee.bytes, count: message.pointee.length)
                    if message.pointee.compressed {
                        object(call).receive(compressed: bytes, isLast: isLast)
                    } else {
                        object(call).receive(bytes, isLast: isLast)
                    }
                },
                on_half_close: { call in
                    if let call { object(call).receiveEnd() }
                },
                on_writable: { call in
                    if let call { object(call).resumeWriters() }
                },
                on_deadline: { call in
                    if let call { object(call).deadlinePassed() }
                },
                on_close: { call, _ in
                    if let call { Unmanaged<NetworkServerCall>.fromOpaque(call).takeRetainedValue().closed() }
                },
                exchange: crpc_exchange_callbacks()
            )
        )
        return UnsafePointer(table)
    }()

    /// That of one that takes other requests as well.
    nonisolated(unsafe) static let callsAndExchanges: UnsafePointer<crpc_server_callbacks> = {
        // Sound for the same reason.
        let table = UnsafeMutablePointer<crpc_server_callbacks>.allocate(capacity: 1)
        table.initialize(to: calls.pointee)
        table.pointee.exchange = ExchangeCallbacks.table
        return UnsafePointer(table)
    }()

    private static func object(_ call: UnsafeMutableRawPointer) -> NetworkServerCall {
        Unmanaged<NetworkServerCall>.fromOpaque(call).takeUnretainedValue()
    }

    private static func opened(_ connection: OpaquePointer?) -> UnsafeMutableRawPointer? {
        guard let connection else { return nil }
        var names: [String] = []
        withUnsafeMutablePointer(to: &names) { names in
            crpc_connection_peer_names(
                connection,
                { context, name, length in
                    guard let context, let name else { return }
                    let text = UnsafeRawBufferPointer(start: name, count: length)
                    context.assumingMemoryBound(to: [String].self).pointee
                        .append(String(decoding: text, as: UTF8.self))
                },
                names
            )
        }
        let peer = PeerInfo(
            address: String(cString: crpc_connection_peer(connection)),
            isEncrypted: crpc_connection_is_encrypted(connection),
            certificateNames: names
        )
        return Unmanaged.passRetained(peer).toOpaque()
    }

    private static func began(
        _ server: UnsafeMutableRawPointer?,
        _ peer: UnsafeMutableRawPointer?,
        _ stream: OpaquePointer?,
        _ request: UnsafePointer<crpc_request>?
    ) -> UnsafeMutableRawPointer? {
        guard let server, let peer, let stream, let request = request?.pointee else { return nil }
        let listener = Unmanaged<LoopListener>.fromOpaque(server).takeUnretainedValue()
        let call = NetworkServerCall(
            handler: listener.methods[Int(request.method)],
            metadata: Metadata(packedAt: request.metadata, count: request.metadata_length),
            deadline: request.deadline_ns == 0 ? nil : Deadline(nanoseconds: request.deadline_ns),
            peer: Unmanaged<PeerInfo>.fromOpaque(peer).takeUnretainedValue(),
            loop: listener.loop,
            messageBytesMax: listener.messageBytesMax,
            stream: stream,
            handlers: request.handlers
        )
        call.begin()
        return Unmanaged.passRetained(call).toOpaque()
    }
}

extension Metadata {
    /// A copy of packed entries of the C layer.
    init(packedAt start: UnsafePointer<UInt8>?, count: Int) {
        self = count == 0 ? Metadata() : Metadata(packed: Array(UnsafeBufferPointer(start: start, count: count)))
    }
}
