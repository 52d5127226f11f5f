import API
import RPC
import SwiftProtobuf

/// A method of the public API with what answers it. RPCs and JSON routes call the same.
struct AppMethod: Sendable {
    /// What answers a request in the encoding of protobuf.
    enum Answer: Sendable {
        /// Anybody's.
        case anyone(@Sendable ([UInt8], Caller) async throws -> any Message)
        /// A user's, whose access token was checked.
        case user(@Sendable ([UInt8], SignedInUser) async throws -> any Message)
    }

    let descriptor: MethodDescriptor
    let answer: Answer
    /// What its user is about to do, if the sign-in must be recent and proven for that; identity checks acts of its own.
    let act: IdentityV1.CheckedAct
    /// Adds the RPC to a router.
    let addRPC: @Sendable (inout Router, AppCalls) -> Void

    /// What the protos say of it.
    var described: AppDescription.Method { AppDescription.current[descriptor] }

    /// A method that anybody may call.
    init<Request: Message, Response: Message>(
        _ descriptor: MethodDescriptor,
        _ answer: @escaping @Sendable (Request, Caller) async throws -> Response
    ) {
        self.descriptor = descriptor
        act = .unspecified
        self.answer = .anyone { try await answer(Self.message($0), $1) }
        addRPC = { router, calls in
            router.unary(descriptor, request: Request.self, response: Response.self) { request, context in
                try await calls.answer(context) { try await answer(request, $0) }
            }
        }
    }

    /// A method that needs an access token.
    init<Request: Message, Response: Message>(
        _ descriptor: MethodDescriptor,
        _ authentication: Authentication,
        act: IdentityV1.CheckedAct,
        _ answer: @escaping @Sendable (Request, SignedInUser) async throws -> Response
    ) {
        self.descriptor = descriptor
        self.act = act
        self.answer = .user { try await answer(Self.message($0), $1) }
        let isChange = AppDescription.current[descriptor].changes
        addRPC = { router, calls in
            router.unary(descriptor, request: Request.self, response: Response.self) { request, context in
                try await calls.answer(context) { caller in
                    let user = try await authentication.userOrReader(caller, isChange: isChange, act: act)
                    if let outage = user.outage, case .rpc(let call) = caller {
                        var trailer = calls.trailer(of: call)
                        trailer.add(OutageAnswer.metadataKey, outage.seconds)
                        context.setTrailingMetadata(trailer)
                    }
                    return try await answer(request, user)
                }
            }
        }
    }

    private static func message<Request: Message>(_ bytes: [UInt8]) throws -> Request {
        bytes.isEmpty ? Request() : try Request(serializedBytes: bytes)
    }
}
