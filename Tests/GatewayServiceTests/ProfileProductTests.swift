import API
import APIDoubles
import HTTPTypes
import JOSE
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// Usernames, revisions, and the names of members.
struct ProfileProductTests {
    private let gateway = TestGateway()

    @Test func `A username is looked at by route and by call, with the client's address`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.profile.set {
            $0.checkUsername = { request, _ in
                seen.withLock { $0.append(request.username) }
                return .with { $0.suggestions = ["maria27", "maria_s31", "maria442"] }
            }
        }
        let answer = try await gateway.send(
            .get,
            "/usernames/maria",
            token: StubServices.accessToken,
            from: "203.0.113.7:9"
        )
        #expect(answer.status == 200)
        #expect(answer.body == ["is_free": false, "suggestions": ["maria27", "maria_s31", "maria442"]])
        let check = try await AppClients(gateway).account.checkUsername(
            .with { $0.username = "clara" },
            options: AppClients.asUser
        )
        #expect(!check.isFree && check.suggestions == ["maria27", "maria_s31", "maria442"])
        #expect(seen.withLock { $0 } == ["maria", "clara"])
        #expect(gateway.stubs.clientAddresses.contains("CheckUsername 203.0.113.7"))
        #expect(try await gateway.send(.get, "/usernames/maria").status == 401)
    }

    @Test func `A taken username comes with others, by route and by call`() async throws {
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(
                    .alreadyExists,
                    reason: "USERNAME_TAKEN",
                    message: "Taken.",
                    field: "username",
                    metadata: [ErrorFact.suggestions: "maria27,maria_s31,maria442"]
                )
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"username":"maria"}"#)
        #expect(answer.status == 409 && answer.code == "USERNAME_TAKEN" && answer.fields == ["username"])
        #expect(answer.body["suggestions"] == ["maria27", "maria_s31", "maria442"])
        let error = try await refusal {
            _ = try await AppClients(gateway).account.updateMe(
                .with { $0.username = "maria" },
                options: AppClients.asUser
            )
        }
        #expect(error.code == .alreadyExists && error.reason == "USERNAME_TAKEN")
        #expect(error.reasonMetadata == ["suggestions": "maria27,maria_s31,maria442"])
    }

    @Test func `The revision that a save expects is handed on, and the one there is comes back`() async throws {
        let seen = Mutex<[Int64?]>([])
        gateway.stubs.profile.set {
            $0.updateProfile = { request, _ in
                seen.withLock { $0.append(request.hasExpectedRevision ? request.expectedRevision : nil) }
                throw RPCError.domain(
                    .aborted,
                    reason: "REVISION_MISMATCH",
                    message: "Changed.",
                    metadata: [ErrorFact.revision: "9007199254740993"]
                )
            }
        }
        let answer = try await gateway.sendAsUser(.patch, "/me", #"{"display_name":"Ana","expected_revision":3}"#)
        #expect(answer.status == 409 && answer.code == "REVISION_MISMATCH")
        #expect(answer.body["revision"] == 9_007_199_254_740_993)
        let error = try await refusal {
            _ = try await AppClients(gateway).account.updateMe(
                .with { $0.expectedRevision = 0 },
                options: AppClients.asUser
            )
        }
        #expect(error.code == .aborted && error.reasonMetadata == ["revision": "9007199254740993"])
        _ = try await gateway.sendAsUser(.patch, "/me", "{}")
        _ = try await gateway.sendAsUser(.patch, "/me", #"{"expected_revision":57304.0}"#)
        #expect(seen.withLock { $0 } == [3, 0, nil, 57_304])
        for revision in ["-1", "1.5", "3e0", "\"3\"", "9007199254740992"] {
            let bad = try await gateway.sendAsUser(.patch, "/me", #"{"expected_revision":\#(revision)}"#)
            #expect(bad.status == 400 && bad.fields == ["expected_revision"])
        }
    }

    private func listsMembers() {
        gateway.stubs.groups.set {
            $0.listMembers = { _, _ in
                .with {
                    $0.members = [
                        .with { ($0.memberID, $0.state, $0.userID, $0.displayName) = ("m-1", .member, "u-1", "Mum") },
                        .with {
                            ($0.memberID, $0.state, $0.userID, $0.displayName) = (
                                "m-2", .member, "u-2", "Ana from work"
                            )
                        },
                        .with { ($0.memberID, $0.state, $0.displayName) = ("m-3", .pending, "Jose") },
                        .with { ($0.memberID, $0.state, $0.userID) = ("m-4", .member, "u-1") },
                    ]
                }
            }
        }
    }

    @Test func `A member's own name wins once there is one, and until then the inviter's`() async throws {
        listsMembers()
        let seen = Mutex<[[String]]>([])
        gateway.stubs.profile.set {
            $0.batchGetProfiles = { request, _ in
                seen.withLock { $0.append(request.userIds) }
                return .with {
                    $0.profiles = [
                        .with {
                            ($0.userID, $0.displayName, $0.username, $0.avatar) = (
                                "u-1", "Maria", "maria", "/avatars/x"
                            )
                        },
                        .with { ($0.userID, $0.avatar) = ("u-2", "https://example.com/a.png") },
                    ]
                }
            }
        }
        let members = try await AppClients(gateway).groups.listMembers(
            .with { $0.groupID = "g" },
            options: AppClients.asUser
        ).members
        #expect(members.map(\.displayName) == ["Maria", "Ana from work", "Jose", "Maria"])
        #expect(members.map(\.username) == ["maria", "", "", "maria"])
        #expect(members.map(\.avatarURL) == ["/avatars/x", "https://example.com/a.png", "", "/avatars/x"])
        let answer = try await gateway.sendAsUser(.get, "/groups/g/members")
        let first = try #require(answer.body["members"]?.array?.first?.object)
        #expect(first["display_name"] == "Maria" && first["username"] == "maria" && first["avatar_url"] == "/avatars/x")
        // Once for a page, and nobody twice.
        #expect(seen.withLock { $0 } == [["u-1", "u-2"], ["u-1", "u-2"]])
    }

    @Test func `Without profile the list comes with the inviters' names, and that is counted`() async throws {
        listsMembers()
        gateway.stubs.profile.set { $0.batchGetProfiles = { _, _ in throw RPCError(.unavailable, "away") } }
        let answer = try await gateway.sendAsUser(.get, "/groups/g/members")
        #expect(answer.status == 200)
        let names = answer.body["members"]?.array?.map { $0.object?["display_name"] }
        #expect(names == ["Mum", "Ana from work", "Jose", .null])
        var text = MetricsText()
        gateway.gateway.methods.memberNames.write(to: &text)
        #expect(text.text.contains("vestibule_gateway_member_names_missed_total 1\n"))
    }

    @Test func `Profile isn't asked where there is nobody to ask about, and has a second at most`() async throws {
        _ = try await gateway.sendAsUser(.get, "/groups/g/members")
        #expect(gateway.stubs.calls == ["CheckSession", "ListMembers"])
        listsMembers()
        let start = Deadline.now()
        _ = try await gateway.sendAsUser(.get, "/groups/g/members")
        #expect(gateway.stubs.calls.last == "BatchGetProfiles")
        let deadline = try #require(gateway.stubs.deadlines.last ?? nil)
        #expect(deadline <= Deadline.now().advanced(byNanoseconds: 1_000_000_000) && deadline > start)
    }
}
