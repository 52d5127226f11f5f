import API
import IdentityDomain
import Models
import OutgoingHTTP
import RPC
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Events that other services report, for webhook targets.
struct AcceptEventsTests {
    private static let event = "01905f3c-6d1e-7c3a-9b57-2f1f0a8f6f11"
    private static let user = "01905f3c-6d1e-7c3a-9b57-2f1f0a8f6f12"
    private static let group = "01905f3c-6d1e-7c3a-9b57-2f1f0a8f6f13"
    private static let member = "01905f3c-6d1e-7c3a-9b57-2f1f0a8f6f14"

    private static func joined(_ change: (inout IdentityV1.ServiceEvent) -> Void = { _ in }) -> IdentityV1.ServiceEvent
    {
        var told = IdentityV1.ServiceEvent.with {
            ($0.eventID, $0.type, $0.userID) = (event, "group.joined", user)
            ($0.groupID, $0.memberID, $0.occurredAtMilliseconds) = (group, member, 1_800_000_000_123)
        }
        change(&told)
        return told
    }

    private static func completed(_ change: (inout IdentityV1.ServiceEvent) -> Void = { _ in })
        -> IdentityV1.ServiceEvent
    {
        joined {
            ($0.type, $0.groupID, $0.memberID) = ("profile.completed", "", "")
            change(&$0)
        }
    }

    @Test func `A target can subscribe to each event type of the services`() {
        for type in ServiceEventType.allCases { #expect(WebhookType(rawValue: type.rawValue) != nil, "\(type)") }
        #expect(Set(ServiceEventType.allCases.map(\.service)) == ["profile", "invites"])
        #expect(ServiceEventType.told(by: "invites") == [.groupJoined])
    }

    @Test func `The answer lists the wanted types, and unwanted events leave nothing`() async throws {
        try await TestService.run { service in
            #expect(try await service.accept([]).isEmpty)
            #expect(try await service.accept([Self.joined()]).isEmpty)
            let targets = [
                WebhookTargets.target("one", types: [.phoneChanged, .accountCreated]),
                WebhookTargets.target("two", types: [.phoneChanged, .groupJoined]),
            ]
            #expect(await service.deliverer(targets, TestHTTP()).register(areNew: true))
            #expect(try await service.accept([]).sorted() == ["account.created", "group.joined", "phone.changed"])
            #expect(try await service.accept([Self.completed()]).count == 3)
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            let changed = Self.completed { ($0.type, $0.eventID) = ("phone.changed", Self.group) }
            _ = try await service.accept([Self.joined(), changed])
            let told = ["one phone.changed", "two group.joined", "two phone.changed"]
            #expect(try await service.deliveries() == told)
            _ = try await service.accept([changed, Self.joined(), changed])
            #expect(try await service.deliveries() == told, "reported again")
        }
    }

    @Test func `A delivery has the ids, the service's own event id and the time of the event`() async throws {
        try await TestService.run { service in
            let http = TestHTTP()
            http.answer { _ throws(OutgoingHTTPError) in OutgoingResponse(status: 204, headers: [], body: []) }
            let target = WebhookTargets.target()
            let deliverer = service.deliverer([target], http)
            #expect(await deliverer.register(areNew: true))
            _ = try await service.accept([Self.joined()])
            await deliverer.round(target)
            let request = try #require(http.requests.first)
            #expect(request.header("webhook-id") == Self.event)
            #expect(
                request.bodyText.hasPrefix(#"{"type":"group.joined","timestamp":"2027-01-15T08:00:00.123Z","data":{"#)
            )
            for id in [Self.user, Self.group, Self.member] { #expect(request.bodyText.contains(id)) }
            _ = try await service.accept([Self.completed { $0.eventID = Self.member }])
            await deliverer.round(target)
            #expect(http.requests.count == 2)
            #expect(http.requests[1].bodyText.hasSuffix(#""data":{"user_id": "\#(Self.user)"}}"#))
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
        }
    }

    @Test func `Events of a closed account are dropped`() async throws {
        try await TestService.run { service in
            #expect(await service.deliverer([WebhookTargets.target()], TestHTTP()).register(areNew: true))
            let session = try await service.signInAnew()
            let userID = try await service.check(session.accessToken).userID
            try await service.delete(session.accessToken)
            _ = try await service.accept([
                Self.joined { $0.userID = userID }, Self.completed { $0.eventID = Self.group },
            ])
            let told = try await service.deliveries().filter { !$0.contains("account") && !$0.contains("session") }
            #expect(told == ["crm profile.completed"])
        }
    }

    @Test func `An invalid event is refused together with the rest of its request`() async throws {
        try await TestService.run { service in
            #expect(await service.deliverer([WebhookTargets.target()], TestHTTP()).register(areNew: true))
            let wrong: [IdentityV1.ServiceEvent] = [
                Self.joined { $0.type = "account.deleted" }, Self.joined { $0.type = "" },
                Self.joined { $0.eventID = "" },
                Self.joined { $0.userID = "me" }, Self.joined { $0.groupID = "" }, Self.joined { $0.memberID = "x" },
                Self.completed { $0.groupID = Self.group }, Self.completed { $0.memberID = Self.member },
                Self.joined { $0.occurredAtMilliseconds = 0 }, Self.joined { $0.occurredAtMilliseconds = .max },
            ]
            for event in wrong {
                await expectFailure(.invalidArgument, "EVENT_INVALID") {
                    _ = try await service.accept([Self.completed { $0.eventID = Self.group }, event])
                }
            }
            let many = Array(repeating: Self.joined(), count: 101)
            await expectFailure(.invalidArgument, "EVENT_INVALID") { _ = try await service.accept(many) }
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            _ = try await service.accept(Array(many.dropFirst()))
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 1)
        }
    }

    @Test func `A service can report its own events only`() async throws {
        try await TestService.run { service in
            #expect(await service.deliverer([WebhookTargets.target()], TestHTTP()).register(areNew: true))
            let (profile, invites) = ("spiffe://vestibule/profile", "spiffe://example.org/vestibule/invites")
            for (names, event) in [
                ([profile], Self.joined()), ([invites], Self.completed()), (["profile", invites], Self.completed()),
            ] {
                await expectFailure(.permissionDenied, "EVENT_NOT_YOURS") {
                    _ = try await service.accept([event], by: names)
                }
            }
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 0)
            _ = try await service.accept([Self.joined()], by: ["invites", invites])
            _ = try await service.accept([Self.completed { $0.eventID = Self.group }], by: [profile])
            // A certificate with another name that the method list accepts.
            _ = try await service.accept([Self.completed { $0.eventID = Self.member }], by: ["events.example.org"])
            #expect(try await service.count("work WHERE queue LIKE 'webhooks.%'") == 3)
        }
    }
}

extension TestService {
    /// Reports events with these names in the caller's certificate; returns the wanted types.
    fileprivate func accept(_ events: [IdentityV1.ServiceEvent], by names: [String] = []) async throws -> [String] {
        let call = ServerCall(
            method: IdentityServiceMethods.acceptEvents,
            metadata: Metadata(),
            deadline: nil,
            peer: PeerInfo(address: "10.0.0.1:4242", isEncrypted: true, certificateNames: names)
        )
        let request = IdentityV1.AcceptEventsRequest.with { $0.events = events }
        return try await parts.methods.acceptEvents(request, context: ServerContext(call)).wantedTypes
    }
}
