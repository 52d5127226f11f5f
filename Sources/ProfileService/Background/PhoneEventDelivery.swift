import API
import RPC
import ServiceKit

/// Delivers events about phone numbers to the invites service.
struct PhoneEventDelivery: Sendable {
    /// How long the invites service may take for a batch. The relay holds a transaction meanwhile, so it is well below what that may take.
    static let timeout = Duration.seconds(5)

    let invites: InvitesServiceClient

    /// Delivers all of these events or, if it throws, perhaps none: they may be delivered again.
    ///
    /// - Throws: `OutboxRejection` if the service will never accept them, `OutboxSetback` if it failed on them or took too long, `RPCError`
    ///   if it is unavailable.
    func deliver(_ events: [PhoneOutboxRows.Event]) async throws {
        var request = InvitesV1.ApplyPhoneEventsRequest()
        request.events = events.map(InvitesV1.PhoneEvent.init)
        do {
            _ = try await invites.applyPhoneEvents(request, options: CallOptions(timeout: Self.timeout))
        } catch {
            // An account that another may be absorbing now: its event waits, and no other user's.
            if error.reason == "ACCOUNT_HELD" {
                throw OutboxSetback(reason: "ACCOUNT_HELD", cause: error, isEventAtFault: false)
            }
            // Not `catch … where`: Swift 6.3.1 crashes on it where the error's type is known.
            throw error.outboxFailure
        }
    }
}
