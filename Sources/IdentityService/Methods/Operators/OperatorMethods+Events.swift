import API
import IdentityDomain
import Models
import RPC
import ServiceKit

extension OperatorMethods {
    /// How many events a page has where nobody says.
    private static let pageSizeUsual = 50

    /// The events of an account in the audit log.
    func listSecurityEvents(
        _ request: OperatorV1.ListSecurityEventsRequest,
        context: ServerContext
    ) async throws -> OperatorV1.ListSecurityEventsResponse {
        try await answer(context) { name in
            let userID = try account(request.userID)
            let size = request.pageSize == 0 ? Self.pageSizeUsual : Int(request.pageSize)
            guard 1...IdentityStore.eventsPageMax ~= size else { throw IdentityError.operation(.pageSizeInvalid) }
            let cursors = ownKeys.current.cursors
            let scope = CursorScope(method: "ListSecurityEvents", account: userID.description)
            var last: EventID?
            if !request.pageToken.isEmpty {
                do throws(CursorError) {
                    last = try (cursors.open(text: request.pageToken, for: scope) as EventCursor).last
                } catch {
                    throw IdentityError.operation(.cursorInvalid)
                }
            }
            // One more than is returned shows whether there is another page.
            let events = try await store.securityEvents(
                of: userID,
                after: last,
                limit: size + 1,
                by: name,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            var response = OperatorV1.ListSecurityEventsResponse()
            response.events = events.prefix(size).map { OperatorV1.SecurityEvent($0) }
            if events.count > size {
                response.nextPageToken = cursors.text(EventCursor(last: events[size - 1].eventID), for: scope)
            }
            return response
        }
    }
}
