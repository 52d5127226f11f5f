import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import JOSE
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `/me` and `/groups`.
struct UserRouteTests {
    @Test func `The profile is returned`() async throws {
        let answer = try await TestGateway().sendAsUser(.get, "/me")
        #expect(answer.status == 200)
        #expect(
            answer.body == [
                "user_id": .string(StubServices.userID), "display_name": "Maria", "username": .null,
                "phone_number": .null, "missing_fields": ["phone_number"], "updated_at": .null,
                "phone_proven": false, "phone_taken_at": .null, "revision": 0, "avatar_url": .null,
                "is_guest": false,
            ]
        )
    }

    @Test func `A trace is continued in the calls`() async throws {
        let gateway = TestGateway()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let parent = try #require(HTTPField.Name("traceparent"))
        let state = try #require(HTTPField.Name("tracestate"))
        let token = StubServices.accessToken
        let headers: HTTPFields = [parent: "00-\(trace)-00f067aa0ba902b7-01", state: "vendor=1"]
        _ = try await gateway.send(.get, "/me", token: token, headers: headers)
        let traces = gateway.stubs.traces
        #expect(traces.count == 2)
        #expect(traces.allSatisfy { $0?.traceID == trace && $0?.isSampled == true && $0?.state == "vendor=1" })
        // Each call is a separate span.
        #expect(Set(traces.map { $0?.spanID } + ["00f067aa0ba902b7"]).count == 3)
        _ = try await gateway.send(.get, "/me", token: token, headers: [parent: "00-\(trace)-0-01"])
        // A malformed trace is ignored: a new one begins, which isn't sampled.
        let ours = Set(gateway.stubs.traces.suffix(2).map { $0?.traceID })
        #expect(ours.count == 1 && ours != [trace] && ours != [nil])
        #expect(gateway.stubs.traces.suffix(2).allSatisfy { $0?.isSampled == false })
    }

    /// The change that profile is asked for when the gateway gets `body`.
    private static func change(_ body: String) async throws -> ProfileV1.UpdateProfileRequest {
        let gateway = TestGateway()
        let seen = Mutex<ProfileV1.UpdateProfileRequest?>(nil)
        gateway.stubs.profile.set { answers in
            let usual = answers.updateProfile
            answers.updateProfile = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/me", body)
        #expect(answer.status == 200)
        #expect(answer.body["phone_number"] == "+639171234567")
        #expect(answer.body["updated_at"] == "2026-01-31T23:59:59.123Z")
        return try #require(seen.withLock { $0 })
    }

    @Test func `Only present fields are changed`() async throws {
        let all = try await Self.change(#"{"display_name":"Ana","phone_number":"0917","username":"ana"}"#)
        #expect(all.displayName == "Ana" && all.phoneNumber == "0917" && all.username == "ana")
        let one = try await Self.change(#"{"display_name":"Ana"}"#)
        #expect(one.hasDisplayName && !one.hasPhoneNumber && !one.hasUsername)
        let none = try await Self.change("{}")
        #expect(!none.hasDisplayName && !none.hasPhoneNumber && !none.hasUsername)
    }

    @Test func `A null username is removed`() async throws {
        let change = try await Self.change(#"{"username":null}"#)
        #expect(change.hasUsername && change.username.isEmpty)
    }

    @Test func `A required field cannot be null`() async throws {
        let answer = try await TestGateway().sendAsUser(.patch, "/me", #"{"display_name":null,"phone_number":null}"#)
        #expect(answer.status == 400)
        #expect(answer.fields == ["display_name", "phone_number"])
    }

    @Test func `A phone number in use is reported`() async throws {
        let gateway = TestGateway()
        let sentence = "This phone number is already associated with another account."
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(
                    .alreadyExists,
                    reason: "PHONE_TAKEN",
                    message: sentence,
                    fields: [.init(field: "phone_number", description: sentence, reason: "PHONE_TAKEN")]
                )
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"phone_number":"09171234567"}"#)
        #expect(answer.status == 409)
        #expect(answer.code == "PHONE_TAKEN")
        #expect(answer.body["detail"]?.string == sentence)
        #expect(answer.fields == ["phone_number"])
    }

    @Test func `An invalid phone number is reported as an invalid field`() async throws {
        let gateway = TestGateway()
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(
                    .invalidArgument,
                    reason: "PHONE_INVALID",
                    message: "This is no phone number.",
                    fields: [.init(field: "phone_number", description: "This is no phone number.", reason: "")]
                )
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"phone_number":"12"}"#)
        #expect(answer.status == 422)
        #expect(answer.code == "PHONE_INVALID")
        #expect(
            answer.body["fields"] == [
                ["field": "phone_number", "code": "PHONE_INVALID", "detail": "This is no phone number."]
            ]
        )
    }

    @Test func `A group is created under the user's name`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[UInt8]?>(nil)
        gateway.stubs.groups.set { answers in
            let usual = answers.createGroup
            answers.createGroup = { request, context in
                seen.withLock { $0 = context.metadata.firstBinary("vestibule-caller-name-bin") }
                return try await usual(request, context)
            }
        }
        let answer = try await gateway.sendAsUser(.post, "/groups", #"{"name":"Trip"}"#)
        #expect(answer.status == 201)
        #expect(
            answer.body == [
                "id": "g-1", "name": "Trip", "owner_user_id": .string(StubServices.userID),
                "created_at": "1970-01-01T00:00:01.000Z", "openness": "open", "role": "owner",
            ]
        )
        #expect(seen.withLock { $0 } == Array("Maria".utf8))
        #expect(try await gateway.sendAsUser(.post, "/groups", "{}").fields == ["name"])
    }

    @Test(arguments: [
        #""8e03978e-40d5-43dd-bc93-6894a57f9324""#, "8e03978e-40d5-43dd-bc93-6894a57f9324",
    ])
    func `An idempotency key is passed on without its quotes`(header: String) async throws {
        let gateway = TestGateway()
        let seen = Mutex<String?>(nil)
        gateway.stubs.groups.set { answers in
            answers.createGroup = { request, _ in
                seen.withLock { $0 = request.idempotencyKey }
                throw RPCError(.unavailable, "the connection was lost")
            }
        }
        let answer = try await createGroup(gateway, key: header)
        #expect(seen.withLock { $0 } == "8e03978e-40d5-43dd-bc93-6894a57f9324")
        #expect(answer.status == 503, "with a key the request may be repeated")
        #expect(answer.headers[.retryAfter] == "1")
        let without = try await createGroup(gateway, key: nil)
        #expect(seen.withLock { $0 } == "")
        #expect(without.status == 500)
        #expect(without.code == "OUTCOME_UNKNOWN")
        #expect(without.headers[.retryAfter] == nil)
    }

    @Test(arguments: ["", "\"\"", String(repeating: "a", count: 39)])
    func `A malformed idempotency key is refused`(header: String) async throws {
        let answer = try await createGroup(TestGateway(), key: header)
        #expect(answer.status == 400)
        #expect(answer.code == "IDEMPOTENCY_KEY_INVALID")
    }

    @Test func `A key that was used for another request is answered with 422`() async throws {
        let gateway = TestGateway()
        gateway.stubs.groups.set {
            $0.createGroup = { _, _ in
                let field = FieldViolation(field: "idempotency_key", description: "Used.", reason: "")
                throw RPCError.domain(
                    .failedPrecondition,
                    reason: "IDEMPOTENCY_KEY_REUSED",
                    message: "Used.",
                    fields: [field]
                )
            }
        }
        let answer = try await createGroup(gateway, key: "8e03978e-40d5-43dd-bc93-6894a57f9324")
        #expect(answer.status == 422)
        #expect(answer.code == "IDEMPOTENCY_KEY_REUSED")
    }

    private func createGroup(_ gateway: TestGateway, key: String?) async throws -> TestGateway.Answer {
        var headers: HTTPFields = [:]
        headers[.idempotencyKey] = key
        return try await gateway.send(
            .post,
            "/groups",
            #"{"name":"Trip"}"#,
            token: StubServices.accessToken,
            headers: headers
        )
    }

    @Test func `A member is added by phone`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<AppV1.AddMemberRequest?>(nil)
        gateway.stubs.groups.set { answers in
            let usual = answers.addMember
            answers.addMember = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let body = #"{"phone_number":"+639170000000","display_name":"Ana"}"#
        let answer = try await gateway.sendAsUser(.post, "/groups/g-7/members", body)
        #expect(answer.status == 201)
        #expect(
            answer.body == [
                "id": "m-1", "state": "pending", "user_id": .null, "phone_number": "+639170000000",
                "display_name": "Ana", "added_at": "1970-01-01T00:00:02.000Z", "role": .null,
                "unconfirmed": false, "username": .null, "avatar_url": .null, "unproven": false,
            ]
        )
        #expect(seen.withLock { $0?.groupID } == "g-7")
    }

    @Test func `Lists have pages`() async throws {
        let gateway = TestGateway()
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.listGroups = { request, _ in
                seen.withLock { $0.append("\(request.pageSize) \(request.pageToken)") }
                return AppV1.ListGroupsResponse.with {
                    $0.groups = [.with { $0.groupID = "g-1" }]
                    $0.nextPageToken = "next"
                }
            }
            answers.listMembers = { request, _ in
                seen.withLock { $0.append("\(request.groupID) \(request.pageSize) \(request.pageToken)") }
                return AppV1.ListMembersResponse.with {
                    $0.members = [
                        .with {
                            $0.state = .member; $0.userID = "u"
                        }
                    ]
                }
            }
        }
        let groups = try await gateway.sendAsUser(.get, "/groups?page_size=2&page_token=a%2Fb%3D")
        #expect(groups.status == 200)
        #expect(groups.body["groups"]?.array?.first?.object?["id"] == "g-1")
        #expect(groups.body["next_page_token"] == "next")
        let members = try await gateway.sendAsUser(.get, "/groups/g-7/members")
        #expect(members.body["members"]?.array?.first?.object?["state"] == "member")
        #expect(members.body["next_page_token"] == .null)
        #expect(seen.withLock { $0 } == ["2 a/b=", "g-7 0 "])
    }

    @Test(arguments: ["0", "101", "x", "", "-1", "99999999999", "%2B5", "05"])
    func `A bad page size is reported with its field`(size: String) async throws {
        for path in ["/groups", "/groups/g/members"] {
            let answer = try await TestGateway().sendAsUser(.get, "\(path)?page_size=\(size)")
            #expect(answer.status == 400)
            #expect(answer.fields == ["page_size"])
        }
    }
}
