import API
import IdentityDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension IdentityMethods {
    /// The most events that are taken at once.
    static let eventsMax = 100

    /// Takes what other services tell, for the targets of webhooks, and answers what those want to know.
    func acceptEvents(
        _ request: IdentityV1.AcceptEventsRequest,
        context: ServerContext
    ) async throws -> IdentityV1.AcceptEventsResponse {
        try await context.answer {
            guard request.events.count <= Self.eventsMax else { throw IdentityError.event(.invalid) }
            let services = Self.services(context.peer.certificateNames)
            let events = try request.events.map { event throws(IdentityError) in try ReceivedEvent(event, by: services)
            }
            var response = IdentityV1.AcceptEventsResponse()
            response.wantedTypes = try await store.accept(
                events,
                nowMilliseconds: clock.nowMilliseconds,
                deadline: context.deadline
            )
            return response
        }
    }

    /// The services whose certificate it is, by the last part of its URIs; none for a certificate that is called otherwise: then
    /// the list of who may call what is all there is.
    private static func services(_ names: [String]) -> Set<String> {
        let known = Set(ServiceEventType.allCases.map(\.service))
        return Set(names.filter { $0.hasPrefix("spiffe://") }.map { String($0[$0.lastSlash...].dropFirst()) })
            .intersection(known)
    }
}

extension String {
    /// Where the last slash is; the end where there is none.
    fileprivate var lastSlash: Index { lastIndex(of: "/") ?? endIndex }
}

/// An event that another service told.
struct ReceivedEvent: Sendable, Hashable {
    /// Times in Unix milliseconds that are dates of four digits.
    private static let times: Range<Int64> = 1..<253_402_300_800_000

    let id: EventID
    let type: ServiceEventType
    let userID: UserID
    let groupID: GroupID?
    let memberID: MemberID?
    let occurredAtMilliseconds: Int64

    /// The event of a message.
    ///
    /// - Parameter services: those whose certificate the caller has; none for any.
    init(_ event: IdentityV1.ServiceEvent, by services: Set<String>) throws(IdentityError) {
        guard let type = ServiceEventType(rawValue: event.type) else { throw IdentityError.event(.invalid) }
        guard services.isEmpty || services.contains(type.service) else { throw IdentityError.event(.notYours) }
        id = try EventID(event.eventID, or: IdentityError.event(.invalid))
        userID = try UserID(event.userID, or: IdentityError.event(.invalid))
        if type == .groupJoined {
            groupID = try GroupID(event.groupID, or: IdentityError.event(.invalid))
            memberID = try MemberID(event.memberID, or: IdentityError.event(.invalid))
        } else {
            guard event.groupID.isEmpty, event.memberID.isEmpty else { throw IdentityError.event(.invalid) }
            (groupID, memberID) = (nil, nil)
        }
        guard Self.times.contains(event.occurredAtMilliseconds) else { throw IdentityError.event(.invalid) }
        self.type = type
        occurredAtMilliseconds = event.occurredAtMilliseconds
    }
}
