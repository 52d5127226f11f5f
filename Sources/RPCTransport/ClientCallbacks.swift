import CRPC
import RPC

/// What the C layer calls for a client's connections. All on the loop's thread.
enum ClientCallbacks {
    /// The table, made once and never freed.
    nonisolated(unsafe) static let table: UnsafePointer<crpc_client_callbacks> = {
        // Sound because it is never written again once it is here.
        let table = UnsafeMutablePointer<crpc_client_callbacks>.allocate(capacity: 1)
        table.initialize(
            to: crpc_client_callbacks(
                on_open: { client in
                    if let client { connection(client).opened() }
                },
                on_draining: { client in
                    if let client { connection(client).isDraining() }
                },
                on_connection_close: { client, error in
                    if let client {
                        Unmanaged<ClientConnection>.fromOpaque(client).takeRetainedValue().closed(error)
                    }
                },
                on_headers: { call, metadata, length in
                    guard let call else { return }
                    let object = Unmanaged<ClientCall>.fromOpaque(call).takeUnretainedValue()
                    object.isCommitted = true
                    object.responseMetadata?.receiveInitial(Metadata(packedAt: metadata, count: length))
                },
                on_message: { call, message in
                    guard let call, let message else { return }
                    let bytes = UnsafeRawBufferPointer(start: message.pointee.bytes, count: message.pointee.length)
                    let object = Unmanaged<ClientCall>.fromOpaque(call).takeUnretainedValue()
                    if message.pointee.compressed {
                        object.responseMetadata?.receiveCompressed()
                        object.receive(compressed: bytes)
                    } else {
                        object.receive(bytes)
                    }
                },
                on_writable: { call in
                    if let call { Unmanaged<ClientCall>.fromOpaque(call).takeUnretainedValue().writable() }
                },
                on_deadline: { call in
                    guard let call else { return }
                    // Completed here and not when the stream has ended, which may take as long as the peer likes.
                    Unmanaged<ClientCall>.fromOpaque(call).takeUnretainedValue()
                        .fail(RPCError(.deadlineExceeded, "the deadline passed"))
                },
                on_close: { call, outcome in
                    guard let pointer = call, let outcome else { return }
                    let call = Unmanaged<ClientCall>.fromOpaque(pointer).takeRetainedValue()
                    call.stream = nil
                    if outcome.pointee.is_from_server {
                        call.responseMetadata?.receiveTrailing(
                            Metadata(packedAt: outcome.pointee.metadata, count: outcome.pointee.metadata_length)
                        )
                    }
                    call.channel?.ended(call, outcome.pointee)
                }
            )
        )
        return UnsafePointer(table)
    }()

    private static func connection(_ client: UnsafeMutableRawPointer) -> ClientConnection {
        Unmanaged<ClientConnection>.fromOpaque(client).takeUnretainedValue()
    }
}

extension RPCError {
    /// The error of an outcome that is not OK.
    init(_ outcome: crpc_outcome) {
        let text = UnsafeRawBufferPointer(start: outcome.message, count: outcome.message_length)
        let metadata = Metadata(packedAt: outcome.metadata, count: outcome.metadata_length)
        self.init(
            Status.Code(wire: Int(outcome.status)),
            String(decoding: text, as: UTF8.self),
            statusDetails: metadata.firstBinary("grpc-status-details-bin") ?? [],
            metadata: metadata
        )
    }
}
