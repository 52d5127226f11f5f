import API
import InvitesDomain
import Models
import RPC
import ServiceKit

extension InvitesMethods {
    /// Applies events of the profile service's outbox, each once by its id, in the order given. All of them are committed when this
    /// returns.
    func applyPhoneEvents(
        _ request: InvitesV1.ApplyPhoneEventsRequest,
        context: ServerContext
    ) async throws -> InvitesV1.ApplyPhoneEventsResponse {
        try await context.answer {
            guard request.events.count <= Self.eventsMax else {
                throw InvitesError.tooManyEvents(eventsMax: Self.eventsMax)
            }
            var events: [PhoneEvent] = []
            for (index, message) in request.events.enumerated() {
                guard let event = PhoneEvent(message) else { throw InvitesError.eventInvalid(index: index) }
                events.append(event)
            }
            let linked = try await phones.apply(
                events,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = InvitesV1.ApplyPhoneEventsResponse()
            response.linkedCount = Int32(clamping: linked)
            return response
        }
    }
}
