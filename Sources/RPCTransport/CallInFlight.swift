import CCrash
import RPC

/// A call or request that a crash report names until ``end()``. Costs no allocation.
///
/// One owner uses a value, at one place at a time.
package struct CallInFlight: @unchecked Sendable {
    // Sound because the pointer is to a place of a static table whose functions any thread may call.
    private let call: OpaquePointer?

    /// Metadata that carries the id of a request from service to service.
    private static let requestIDKey = "x-request-id"

    /// Notes a call. Must be called inside the task that handles it.
    package init(_ call: ServerCall) {
        let isStream = call.method.kind != .unary
        let id = call.metadata.isEmpty ? nil : call.metadata.onlyBytes(Self.requestIDKey)
        if let id {
            self.call = id.withUnsafeBufferPointer { Self.began(call.method.path, $0, isStream: isStream) }
        } else {
            self.call = Self.began(call.method.path, UnsafeBufferPointer(start: nil, count: 0), isStream: isStream)
        }
    }

    /// Notes a request. Must be called inside the task that handles it, or on the thread that does without a task.
    ///
    /// - Parameters:
    ///   - route: method and path of the route. Never values of a request.
    ///   - requestID: the id by which the request is found in logs.
    ///   - isStream: whether the answer is a stream, which lasts.
    package init(_ route: String, requestID: String, isStream: Bool = false) {
        var id = requestID
        call = id.withUTF8 { Self.began(route, $0, isStream: isStream) }
    }

    private static func began(_ method: String, _ id: UnsafeBufferPointer<UInt8>, isStream: Bool) -> OpaquePointer? {
        var method = method
        return method.withUTF8 { method in
            method.withMemoryRebound(to: CChar.self) { method in
                id.withMemoryRebound(to: CChar.self) { id in
                    // A name of no bytes may have no address.
                    method.baseAddress.flatMap {
                        ccrash_call_began($0, method.count, id.baseAddress, id.count, isStream)
                    }
                }
            }
        }
    }

    /// Sets the request's id, where it was not known at the beginning.
    package func setRequestID(_ id: String) {
        var id = id
        id.withUTF8 { id in
            id.withMemoryRebound(to: CChar.self) { ccrash_call_set_id(call, $0.baseAddress, $0.count) }
        }
    }

    /// Forgets the call. Must be called once.
    package func end() { ccrash_call_ended(call) }
}
