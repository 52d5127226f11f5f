import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The routes and RPCs that manage a group, over stub services.
struct GroupRouteTests {
    private let gateway = TestGateway()
    /// The requests that the service received, each as its message in JSON.
    private let seen = Seen()

    private final class Seen: Sendable {
        private let requests = Mutex<[String]>([])

        func add(_ request: some Message) throws {
            let text = "\(type(of: request)) ".split(separator: "_").last.map(String.init) ?? ""
            let json = try request.jsonString()
            requests.withLock { $0.append(text + json) }
        }

        var all: [String] { requests.withLock { $0 } }
    }

    init() {
        let seen = seen
        gateway.stubs.groups.set { answers in
            answers.getGroup = { request, _ in
                try seen.add(request)
                return .with { $0.group = Self.group }
            }
            answers.updateGroup = { request, _ in
                try seen.add(request)
                return .with { $0.group = Self.group }
            }
            answers.handOverGroup = { request, _ in
                try seen.add(request)
                return .with { $0.group = Self.group }
            }
            answers.deleteGroup = { request, _ in
                try seen.add(request)
                return .init()
            }
            answers.leaveGroup = { request, _ in
                try seen.add(request)
                return .init()
            }
            answers.removeMember = { request, _ in
                try seen.add(request)
                return .init()
            }
            answers.setMemberRole = { request, _ in
                try seen.add(request)
                return .with { $0.member = Self.member }
            }
            answers.addMembers = { request, _ in
                try seen.add(request)
                return .with {
                    $0.results = [
                        .with { $0.member = Self.member },
                        .with {
                            $0.refusal.reason = "TOO_MANY_ATTEMPTS"
                            $0.refusal.message = "This was done too often."
                            $0.refusal.retryAfterSeconds = 2
                        },
                    ]
                }
            }
        }
    }

    private static let group = AppV1.Group.with {
        ($0.groupID, $0.name, $0.ownerUserID, $0.openness, $0.role) = ("g-7", "Trip", "u-1", .consent, .admin)
    }

    private static let member = AppV1.Member.with {
        ($0.memberID, $0.state, $0.userID, $0.role, $0.isUnconfirmed) = ("m-1", .member, "u-2", .admin, true)
        $0.isUnproven = true
    }

    private let groupJSON: JSONObject = [
        "id": "g-7", "name": "Trip", "owner_user_id": "u-1", "created_at": .null, "openness": "consent",
        "role": "admin",
    ]
    private let memberJSON: JSONObject = [
        "id": "m-1", "state": "member", "user_id": "u-2", "phone_number": .null, "display_name": .null,
        "added_at": .null, "role": "admin", "unconfirmed": true, "username": .null, "avatar_url": .null,
        "unproven": true,
    ]

    @Test func `Groups are returned, changed and handed over`() async throws {
        let requests: [(HTTPRequest.Method, String, String?)] = [
            (.get, "/groups/g-7", nil), (.patch, "/groups/g-7", #"{"name":"Trip"}"#),
            (.patch, "/groups/g-7", #"{"openness":"consent"}"#), (.post, "/groups/g-7/owner", #"{"member_id":"m-1"}"#),
        ]
        for (method, path, body) in requests {
            let answer = try await gateway.sendAsUser(method, path, body)
            #expect(answer.status == 200 && answer.body == groupJSON, "\(method) \(path)")
        }
        #expect(
            seen.all == [
                #"GetGroupRequest {"groupId":"g-7"}"#, #"UpdateGroupRequest {"groupId":"g-7","name":"Trip"}"#,
                #"UpdateGroupRequest {"groupId":"g-7","openness":"GROUP_OPENNESS_CONSENT"}"#,
                #"HandOverGroupRequest {"groupId":"g-7","memberId":"m-1"}"#,
            ]
        )
    }

    @Test func `Groups are deleted and left, and members removed, without a body`() async throws {
        let requests: [(HTTPRequest.Method, String)] = [
            (.delete, "/groups/g-7"), (.post, "/groups/g-7/leave"), (.delete, "/groups/g-7/members/m-1"),
        ]
        for (method, path) in requests {
            let answer = try await gateway.sendAsUser(method, path)
            #expect(answer.status == 204, "\(method) \(path)")
        }
        #expect(
            seen.all == [
                #"DeleteGroupRequest {"groupId":"g-7"}"#, #"LeaveGroupRequest {"groupId":"g-7"}"#,
                #"RemoveMemberRequest {"groupId":"g-7","memberId":"m-1"}"#,
            ]
        )
    }

    @Test func `A member gets a role`() async throws {
        let answer = try await gateway.sendAsUser(.patch, "/groups/g-7/members/m-1", #"{"role":"admin"}"#)
        #expect(answer.status == 200 && answer.body == memberJSON)
        #expect(seen.all == [#"SetMemberRoleRequest {"groupId":"g-7","memberId":"m-1","role":"GROUP_ROLE_ADMIN"}"#])
    }

    @Test func `Many are added, each with a separate result`() async throws {
        let body = #"{"members":[{"phone_number":"0917","display_name":"Ana"},{"phone_number":""}]}"#
        let answer = try await gateway.sendAsUser(.post, "/groups/g-7/members/batch", body)
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "results": [
                    .object(["member": .object(memberJSON), "refusal": .null]),
                    .object([
                        "member": .null,
                        "refusal": .object([
                            "code": "TOO_MANY_ATTEMPTS", "detail": "This was done too often.", "field": .null,
                            "retry_after_seconds": 2,
                        ]),
                    ]),
                ]
            ]
        )
        #expect(
            seen.all == [
                #"AddMembersRequest {"groupId":"g-7","members":[{"phoneNumber":"0917","displayName":"Ana"},{}]}"#
            ]
        )
    }

    @Test(arguments: [
        (HTTPRequest.Method.patch, "/groups/g", #"{"openness":"ajar"}"#, "openness"),
        (.patch, "/groups/g", #"{"openness":null}"#, "openness"), (.patch, "/groups/g", #"{"name":null}"#, "name"),
        (.patch, "/groups/g", #"{"name":""}"#, "name"),
        (.post, "/groups", #"{"name":"Trip","openness":"ajar"}"#, "openness"),
        (.patch, "/groups/g/members/m", #"{"role":"owner"}"#, "role"), (.patch, "/groups/g/members/m", "{}", "role"),
        (.post, "/groups/g/owner", "{}", "member_id"), (.post, "/groups/g/members/batch", "{}", "members"),
        (.post, "/groups/g/members/batch", #"{"members":[1]}"#, "members"),
        (.post, "/groups/g/members/batch", #"{"members":[{},{"phone_number":1}]}"#, "members[1].phone_number"),
    ])
    func `A malformed request is refused with the field`(
        method: HTTPRequest.Method,
        path: String,
        body: String,
        field: String
    ) async throws {
        let answer = try await gateway.sendAsUser(method, path, body)
        #expect(answer.status == 400 && answer.fields == [field])
        #expect(seen.all.isEmpty)
    }

    @Test func `Apps can do the same by RPC`() async throws {
        let groups = try AppClients(gateway).groups
        let options = AppClients.asUser
        let group = AppV1.Group.with {
            ($0.groupID, $0.name, $0.ownerUserID, $0.openness, $0.role) = ("g-7", "Trip", "u-1", .consent, .admin)
        }
        #expect(try await groups.getGroup(.with { $0.groupID = "g-7" }, options: options).group == group)
        let changed = try await groups.updateGroup(
            .with { ($0.groupID, $0.name, $0.openness) = ("g-7", "", .UNRECOGNIZED(9)) },
            options: options
        )
        #expect(changed.group == group)
        #expect(try await groups.handOverGroup(.with { $0.memberID = "m-1" }, options: options).group == group)
        _ = try await groups.deleteGroup(.init(), options: options)
        _ = try await groups.leaveGroup(.init(), options: options)
        _ = try await groups.removeMember(.init(), options: options)
        let member = try await groups.setMemberRole(.with { $0.role = .member }, options: options).member
        #expect(member.role == .admin && member.isUnconfirmed && member.state == .member)
        let results = try await groups.addMembers(.with { $0.members = [.init()] }, options: options).results
        #expect(results.map(\.member.memberID) == ["m-1", ""] && results[1].refusal.retryAfterSeconds == 2)
        // The service decides about a later version's value, and an empty name is a name.
        #expect(seen.all[1] == #"UpdateGroupRequest {"groupId":"g-7","name":"","openness":9}"#)
        #expect(seen.all.count == 8)
    }

    @Test func `An owner who must hand over gets a conflict, and an insufficient role is forbidden`() async throws {
        gateway.stubs.groups.set { answers in
            answers.leaveGroup = { _, _ in
                throw RPCError.domain(.aborted, reason: "OWNER_MUST_HAND_OVER", message: "Hand over first.")
            }
            answers.deleteGroup = { _, _ in
                throw RPCError.domain(.permissionDenied, reason: "ROLE_INSUFFICIENT", message: "Not with your role.")
            }
        }
        let leaving = try await gateway.sendAsUser(.post, "/groups/g/leave")
        #expect(leaving.status == 409 && leaving.code == "OWNER_MUST_HAND_OVER")
        let deleting = try await gateway.sendAsUser(.delete, "/groups/g")
        #expect(deleting.status == 403 && deleting.code == "ROLE_INSUFFICIENT")
    }
}
