import RPC
import SwiftProtobuf

/// Has those who watch groups looked for after each call that may have changed something, whatever method it was.
struct ChangeAnnouncer: ServerInterceptor {
    let groupEvents: GroupEventHub

    func intercept<Request: Message, Response: Message>(
        _ request: Request,
        _ context: ServerContext,
        next: @Sendable (Request, ServerContext) async throws -> Response
    ) async throws -> Response {
        let response = try await next(request, context)
        if !Self.onlyReads(context.method.method) { groupEvents.announce() }
        return response
    }

    /// Whether a method's name says that it changes nothing. One that is called otherwise costs a look in vain.
    private static func onlyReads(_ name: String) -> Bool {
        name.hasPrefix("List") || name.hasPrefix("Get") || name.hasPrefix("Check")
    }
}
