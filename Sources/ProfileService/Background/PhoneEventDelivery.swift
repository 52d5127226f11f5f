import API
import RPC
import ServiceKit

/// Tells the invites service what became of phone numbers.
struct PhoneEventDelivery: Sendable {
    /// How long the invites service may take for a batch. The relay holds a transaction meanwhile, so it is well below
    /// what that may take.
    static let timeout = Duration.seconds(5)

    let invites: InvitesServiceClient

    /// Tells all of these events or, if it throws, perhaps none: they may be told again.
    ///
    /// - Throws: `OutboxRejection` if the service will never take them, `OutboxSetback` if it failed on them or took too
    ///   long, `RPCError` if it isn't there for anybody.
    func deliver(_ events: [PhoneOutbox.Event]) async throws {
        var request = InvitesV1.ApplyPhoneEventsRequest()
        request.events = events.map(InvitesV1.PhoneEvent.init)
        do {
            _ = try await invites.applyPhoneEvents(request, options: CallOptions(timeout: Self.timeout))
        } catch {
            // Not `catch … where`: Swift 6.3.1 crashes on it where the error's type is known.
            throw Self.verdict(error)
        }
    }

    private static func verdict(_ error: RPCError) -> any Error {
        switch error.code {
        case .invalidArgument: OutboxRejection(reason: error.reason ?? "INVALID_ARGUMENT")
        case .internalError, .unknown, .dataLoss, .deadlineExceeded, .aborted, .failedPrecondition, .notFound,
            .alreadyExists, .outOfRange:
            OutboxSetback(
                reason: error.reason ?? error.code.description,
                cause: error,
                // Whoever takes too long for everybody's events is no reason to set aside the oldest of them.
                isEventAtFault: error.code != .deadlineExceeded
            )
        // What these say holds for all events alike: setting them aside one after the other would mend nothing.
        case .ok, .unavailable, .cancelled, .resourceExhausted, .unauthenticated, .permissionDenied, .unimplemented:
            error
        }
    }
}
