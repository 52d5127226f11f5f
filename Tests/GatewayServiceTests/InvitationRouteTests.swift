import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// The routes of invitations, links and blocks.
struct InvitationRouteTests {
    private let gateway = TestGateway()
    private let user = "0190c2a5-7f00-7000-8000-000000000009"

    @Test func `The user's invitations and requests are returned in pages`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.listMyInvitations = { request, _ in
                seen.withLock { $0.append("\(request.pageSize) \(request.pageToken)") }
                return .with {
                    $0.invitations = [
                        .with {
                            ($0.memberID, $0.groupID, $0.groupName, $0.state) = ("m-1", "g-1", "Trip", .consent)
                            ($0.addedByUserID, $0.since, $0.expiresAt) = (
                                "u-1", .init(milliseconds: 1000), .init(milliseconds: 2000)
                            )
                        },
                        .with {
                            ($0.memberID, $0.groupID, $0.groupName, $0.state) = ("m-2", "g-2", "Lunch", .confirmation)
                            ($0.isRequest, $0.since) = (true, .init(milliseconds: 1000))
                        },
                    ]
                    $0.nextPageToken = "next"
                }
            }
        }
        let answer = try await gateway.sendAsUser(.get, "/invitations?page_size=2&page_token=a")
        #expect(answer.status == 200 && seen.withLock { $0 } == ["2 a"])
        #expect(
            answer.body == [
                "invitations": [
                    [
                        "id": "m-1", "group_id": "g-1", "group_name": "Trip", "waits_for": "consent",
                        "added_by_user_id": "u-1", "request": false, "since": "1970-01-01T00:00:01.000Z",
                        "expires_at": "1970-01-01T00:00:02.000Z",
                    ],
                    [
                        "id": "m-2", "group_id": "g-2", "group_name": "Lunch", "waits_for": "confirmation",
                        "added_by_user_id": .null, "request": true, "since": "1970-01-01T00:00:01.000Z",
                        "expires_at": .null,
                    ],
                ], "next_page_token": "next",
            ]
        )
        #expect(try await gateway.sendAsUser(.get, "/invitations?page_size=0").fields == ["page_size"])
    }

    @Test func `Invitations are accepted, declined and confirmed by group and id`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.acceptInvitation = { request, _ in
                seen.withLock { $0.append("accept \(request.groupID) \(request.memberID)") }
                return .with { $0.member = .with { ($0.memberID, $0.state, $0.userID) = ("m-1", .member, "u-1") } }
            }
            answers.declineInvitation = { request, _ in
                seen.withLock { $0.append("decline \(request.groupID) \(request.memberID)") }
                return .init()
            }
            answers.confirmMember = { request, _ in
                seen.withLock { $0.append("confirm \(request.groupID) \(request.memberID) \(request.confirmedUserID)") }
                return .with { $0.member = .with { ($0.memberID, $0.state, $0.userID) = ("m-1", .member, "u-2") } }
            }
        }
        let accepted = try await gateway.sendAsUser(.post, "/groups/g-1/members/m-1/accept")
        #expect(accepted.status == 200 && accepted.body["user_id"] == "u-1" && accepted.body["state"] == "member")
        #expect(try await gateway.sendAsUser(.post, "/groups/g-1/members/m-2/decline").status == 204)
        let confirmed = try await gateway.sendAsUser(
            .post,
            "/groups/g-1/members/m-3/confirm",
            "{\"user_id\":\"\(user)\"}"
        )
        #expect(confirmed.status == 200 && confirmed.body["user_id"] == "u-2")
        #expect(seen.withLock { $0 } == ["accept g-1 m-1", "decline g-1 m-2", "confirm g-1 m-3 \(user)"])
        #expect(try await gateway.sendAsUser(.post, "/groups/g-1/members/m-3/confirm", "{}").fields == ["user_id"])
    }

    @Test func `The pending people of a group are returned with what the caller may know`() async throws {
        gateway.stubs.groups.set { answers in
            answers.listPending = { request, _ in
                .with {
                    $0.people = [
                        .with {
                            ($0.memberID, $0.groupID, $0.state) = ("m-1", request.groupID, .number)
                            ($0.phoneNumber, $0.displayName, $0.since) = (
                                "+639171234567", "Ana", .init(milliseconds: 1000)
                            )
                        },
                        .with { ($0.memberID, $0.state, $0.userID, $0.mayConfirm) = ("m-2", .request, "u-2", true) },
                        .with { ($0.memberID, $0.state, $0.userID) = ("m-3", .doubt, "u-3") },
                    ]
                }
            }
        }
        let answer = try await gateway.sendAsUser(.get, "/groups/g-7/pending")
        let people = (answer.body["people"]?.array ?? []).compactMap(\.object)
        try #require(people.count == 3)
        #expect(people.map { $0["state"] } == ["number", "request", "doubt"])
        #expect(people.map { $0["user_id"] } == [.null, "u-2", "u-3"])
        #expect(people.map { $0["may_confirm"] } == [false, true, false])
        #expect(people[0]["phone_number"] == "+639171234567" && people[0]["since"] == "1970-01-01T00:00:01.000Z")
        #expect(answer.body["next_page_token"] == .null)
    }

    @Test func `A link's token is returned once, and is sent in bodies only`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.createGroupLink = { request, _ in
                seen.withLock { $0.append("\(request.groupID) \(request.lifetimeSeconds) \(request.usesMax)") }
                return .with {
                    $0.link = .with {
                        ($0.linkID, $0.createdByUserID, $0.usesMax) = ("l-1", "u-1", request.usesMax)
                        ($0.createdAt, $0.expiresAt) = (.init(milliseconds: 1000), .init(milliseconds: 2000))
                    }
                    $0.token = "secret"
                }
            }
            answers.listGroupLinks = { _, _ in .with { $0.links = [.with { ($0.linkID, $0.uses) = ("l-1", 3) }] } }
            answers.previewGroupLink = { request, context in
                seen.withLock {
                    $0.append("preview \(request.token) \(context.metadata.first("vestibule-client-address") ?? "")")
                }
                return .with {
                    ($0.groupID, $0.groupName, $0.openness, $0.expiresAt) = (
                        "g-1", "Trip", .confirm, .init(milliseconds: 2000)
                    )
                }
            }
            answers.joinByLink = { request, _ in
                seen.withLock { $0.append("join \(request.token)") }
                return .with {
                    ($0.groupID, $0.groupName, $0.memberID, $0.state) = ("g-1", "Trip", "m-1", .pending)
                }
            }
            answers.revokeGroupLink = { request, _ in
                seen.withLock { $0.append("revoke \(request.groupID) \(request.linkID)") }
                return .init()
            }
        }
        let made = try await gateway.sendAsUser(.post, "/groups/g-1/links", #"{"lifetime_seconds":60,"uses_max":1}"#)
        #expect(made.status == 201 && made.body["token"] == "secret" && made.body["uses_max"] == 1)
        let unlimited = try await gateway.sendAsUser(.post, "/groups/g-1/links", #"{"uses_max":null}"#)
        #expect(unlimited.body["uses_max"] == .null && unlimited.body["id"] == "l-1")
        let links = try await gateway.sendAsUser(.get, "/groups/g-1/links").body["links"]?.array?.first?.object
        #expect(links?["uses"] == 3 && links?["token"] == nil && links?["created_by_user_id"] == .null)
        let preview = try await gateway.sendAsUser(.post, "/groups/links/preview", #"{"token":"t"}"#)
        #expect(
            preview.body == [
                "group_id": "g-1", "group_name": "Trip", "openness": "confirm", "member": false,
                "expires_at": "1970-01-01T00:00:02.000Z",
            ]
        )
        let joined = try await gateway.sendAsUser(.post, "/groups/links/join", #"{"token":"t"}"#)
        #expect(
            joined.body == ["group_id": "g-1", "group_name": "Trip", "member_id": "m-1", "state": "pending"]
        )
        #expect(try await gateway.sendAsUser(.delete, "/groups/g-1/links/l-1").status == 204)
        let calls = seen.withLock { $0 }
        #expect(calls.count == 5 && calls[0] == "g-1 60 1" && calls[1] == "g-1 0 0")
        #expect(calls[2].hasPrefix("preview t") && calls[3] == "join t" && calls[4] == "revoke g-1 l-1")
        for body in [#"{"lifetime_seconds":60.0,"uses_max":1.00}"#, #"{"lifetime_seconds":null}"#] {
            #expect(try await gateway.sendAsUser(.post, "/groups/g-1/links", body).status == 201)
        }
        for body in [
            #"{"lifetime_seconds":60.5}"#, #"{"lifetime_seconds":59}"#, #"{"uses_max":0}"#, #"{"uses_max":"1"}"#,
        ] {
            #expect(try await gateway.sendAsUser(.post, "/groups/g-1/links", body).status == 400)
        }
        #expect(try await gateway.sendAsUser(.post, "/groups/links/join", "{}").fields == ["token"])
    }

    @Test func `The creation of a link with an unknown outcome is not retried`() async throws {
        gateway.stubs.groups.set {
            $0.createGroupLink = { _, _ in throw RPCError(.unavailable, "the connection was lost") }
        }
        let answer = try await gateway.sendAsUser(.post, "/groups/g-1/links", "{}")
        #expect(answer.status == 500 && answer.code == "OUTCOME_UNKNOWN" && answer.headers[.retryAfter] == nil)
    }

    @Test func `Inviters are blocked, listed and unblocked`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.blockInviter = { request, _ in
                seen.withLock { $0.append("block \(request.inviterUserID)") }
                return .init()
            }
            answers.unblockInviter = { request, _ in
                seen.withLock { $0.append("unblock \(request.inviterUserID)") }
                return .init()
            }
            answers.listBlockedInviters = { _, _ in
                .with { $0.inviters = [.with { ($0.userID, $0.blockedAt) = ("u-1", .init(milliseconds: 1000)) }] }
            }
        }
        #expect(try await gateway.sendAsUser(.put, "/me/blocked-inviters/\(user)").status == 204)
        let listed = try await gateway.sendAsUser(.get, "/me/blocked-inviters")
        #expect(
            listed.body == [
                "inviters": [["user_id": "u-1", "blocked_at": "1970-01-01T00:00:01.000Z"]], "next_page_token": .null,
            ]
        )
        #expect(try await gateway.sendAsUser(.delete, "/me/blocked-inviters/\(user)").status == 204)
        #expect(seen.withLock { $0 } == ["block \(user)", "unblock \(user)"])
    }

    @Test(arguments: [
        ("LINK_INVALID", Status.Code.notFound, 404), ("LINK_OVER", .failedPrecondition, 400),
        ("PERSON_CHANGED", .aborted, 409), ("INVITATION_NOT_FOUND", .notFound, 404),
        ("TOO_MANY_ATTEMPTS", .resourceExhausted, 429),
    ])
    func `A refusal of the service keeps its reason`(reason: String, code: Status.Code, status: Int) async throws {
        gateway.stubs.groups.set {
            $0.joinByLink = { _, _ in throw RPCError.domain(code, reason: reason, message: "For people.") }
        }
        let answer = try await gateway.sendAsUser(.post, "/groups/links/join", #"{"token":"t"}"#)
        #expect(answer.status == status && answer.code == reason && answer.body["detail"] == "For people.")
        let error = try await refusal {
            _ = try await AppClients(gateway).groups.joinByLink(.with { $0.token = "t" }, options: AppClients.asUser)
        }
        #expect(error.code == code && error.reason == reason)
    }

    @Test func `The RPCs return what the routes return`() async throws {
        gateway.stubs.groups.set { answers in
            answers.listMyInvitations = { _, _ in
                .with {
                    $0.invitations = [
                        .with { ($0.memberID, $0.state, $0.since) = ("m-1", .consent, .init(milliseconds: 1000)) }
                    ]
                }
            }
            answers.listPending = { _, _ in
                .with {
                    $0.people = [
                        .with { ($0.memberID, $0.state, $0.expiresAt) = ("m-2", .request, .init(milliseconds: 2000)) }
                    ]
                }
            }
        }
        let groups = try AppClients(gateway).groups
        let invitation = try await groups.listMyInvitations(.init(), options: AppClients.asUser).invitations.first
        #expect(invitation?.state == .consent && invitation?.since.seconds == 1 && invitation?.hasExpiresAt == false)
        let person = try await groups.listPending(.with { $0.groupID = "g-1" }, options: AppClients.asUser).people.first
        #expect(person?.state == .request && person?.expiresAt.seconds == 2)
        #expect(gateway.stubs.calls.suffix(1) == ["ListPending"])
    }

    @Test(arguments: [
        "GET /invitations", "POST /groups/g/members/m/accept", "POST /groups/g/members/m/decline",
        "GET /groups/g/pending",
        "GET /groups/g/links", "DELETE /groups/g/links/l", "PUT /me/blocked-inviters/u",
        "DELETE /me/blocked-inviters/u",
        "GET /me/blocked-inviters", "POST /groups/links/join", "POST /groups/links/preview",
        "POST /groups/g/members/m/confirm", "POST /groups/g/links",
    ])
    func `Each route needs a token`(line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        let method = try #require(HTTPRequest.Method(words[0]))
        let answer = try await gateway.send(
            method,
            words[1],
            words[0] == "POST" ? #"{"token":"t","user_id":"u"}"# : nil
        )
        #expect(answer.status == 401)
        #expect(gateway.stubs.calls.allSatisfy { $0 == "CheckSession" })
    }
}
