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
    func deliver(_ events: [PhoneOutboxRows.Event]) async throws {
        var request = InvitesV1.ApplyPhoneEventsRequest()
        request.events = events.map(InvitesV1.PhoneEvent.init)
        do {
            _ = try await invites.applyPhoneEvents(request, options: CallOptions(timeout: Self.timeout))
        } catch {
            // Of an account that may be absorbed by another at this moment: its event waits, and nobody else's.
            if error.reason == "ACCOUNT_HELD" {
                throw OutboxSetback(reason: "ACCOUNT_HELD", cause: error, isEventAtFault: false)
            }
            // Not `catch … where`: Swift 6.3.1 crashes on it where the error's type is known.
            throw error.outboxFailure
        }
    }
}
