import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization
import Testing

@testable import GatewayService

/// `vestibule.app.v1.AccountService`, `GroupService` and `KeyService`.
struct AppUserTests {
    private let gateway = TestGateway()

    @Test func `The caller's profile is returned`() async throws {
        let me = try await AppClients(gateway).account.getMe(.init(), options: AppClients.asUser).profile
        #expect(
            me
                == .with {
                    ($0.userID, $0.displayName, $0.missingFields) = (StubServices.userID, "Maria", ["phone_number"])
                }
        )
        #expect(!me.hasUpdatedAt)
        #expect(gateway.stubs.calls == ["CheckSession", "GetProfile"])
    }

    @Test func `Only present fields are changed`() async throws {
        let seen = Mutex<[ProfileV1.UpdateProfileRequest]>([])
        gateway.stubs.profile.set { answers in
            let usual = answers.updateProfile
            answers.updateProfile = { request, context in
                seen.withLock { $0.append(request) }
                return try await usual(request, context)
            }
        }
        let account = try AppClients(gateway).account
        let me = try await account.updateMe(
            .with { ($0.displayName, $0.username) = ("Ana", "") },
            options: AppClients.asUser
        ).profile
        #expect(me.displayName == "Ana" && me.phoneNumber == "+639171234567")
        #expect(me.updatedAt == Google_Protobuf_Timestamp(seconds: 1_769_903_999, nanos: 123_000_000))
        _ = try await account.updateMe(.with { $0.phoneNumber = "0917" }, options: AppClients.asUser)
        #expect(
            seen.withLock { $0 } == [
                .with { ($0.displayName, $0.username) = ("Ana", "") },
                .with { $0.phoneNumber = "0917" },
            ]
        )
    }

    @Test func `A phone number in use is reported with its field`() async throws {
        let sentence = "This phone number is already associated with another account."
        gateway.stubs.profile.set {
            $0.updateProfile = { _, _ in
                throw RPCError.domain(.alreadyExists, reason: "PHONE_TAKEN", message: sentence, field: "phone_number")
            }
        }
        let error = try await refusal {
            _ = try await AppClients(gateway).account.updateMe(
                .with { $0.phoneNumber = "0917" },
                options: AppClients.asUser
            )
        }
        #expect(error.code == .alreadyExists && error.reason == "PHONE_TAKEN" && error.message == sentence)
        #expect(
            error.fieldViolations == [.init(field: "phone_number", description: sentence, reason: "PHONE_TAKEN")]
        )
    }

    @Test func `A group is created under the caller's name`() async throws {
        let seen = Mutex<(AppV1.CreateGroupRequest, name: [UInt8]?)?>(nil)
        gateway.stubs.groups.set { answers in
            let usual = answers.createGroup
            answers.createGroup = { request, context in
                seen.withLock { $0 = (request, context.metadata.firstBinary("vestibule-caller-name-bin")) }
                return try await usual(request, context)
            }
        }
        let group = try await AppClients(gateway).groups.createGroup(
            .with { ($0.name, $0.idempotencyKey) = ("Trip", "8e03978e-40d5-43dd-bc93-6894a57f9324") },
            options: AppClients.asUser
        ).group
        #expect(
            seen.withLock { $0?.0 }
                == .with { ($0.name, $0.idempotencyKey) = ("Trip", "8e03978e-40d5-43dd-bc93-6894a57f9324") }
        )
        #expect(seen.withLock { $0?.name } == Array("Maria".utf8))
        #expect(
            group
                == .with {
                    ($0.groupID, $0.name, $0.ownerUserID) = ("g-1", "Trip", StubServices.userID)
                    $0.createdAt = Google_Protobuf_Timestamp(seconds: 1)
                    ($0.openness, $0.role) = (.open, .owner)
                }
        )
    }

    @Test func `A lost answer to a creation without a key is not retryable`() async throws {
        gateway.stubs.groups.set {
            $0.createGroup = { _, _ in throw RPCError(.unavailable, "the connection was lost") }
        }
        let groups = try AppClients(gateway).groups
        let with = try await refusal {
            _ = try await groups.createGroup(
                .with { ($0.name, $0.idempotencyKey) = ("Trip", "k") },
                options: AppClients.asUser
            )
        }
        #expect(with.code == .unavailable && with.reason == "UNAVAILABLE" && with.retryAfter == .seconds(1))
        #expect(!with.message.contains("connection"), "internal errors are not sent to clients")
        let without = try await refusal {
            _ = try await groups.createGroup(.with { $0.name = "Trip" }, options: AppClients.asUser)
        }
        #expect(without.code == .internalError && without.reason == "OUTCOME_UNKNOWN" && without.retryAfter == nil)
    }

    @Test func `A member is added by phone`() async throws {
        let seen = Mutex<AppV1.AddMemberRequest?>(nil)
        gateway.stubs.groups.set { answers in
            let usual = answers.addMember
            answers.addMember = { request, context in
                seen.withLock { $0 = request }
                return try await usual(request, context)
            }
        }
        let member = try await AppClients(gateway).groups.addMember(
            .with { ($0.groupID, $0.phoneNumber, $0.displayName) = ("g-7", "+639170000000", "Ana") },
            options: AppClients.asUser
        ).member
        #expect(
            seen.withLock { $0 }
                == .with {
                    $0.groupID = "g-7"
                    ($0.phoneNumber, $0.displayName) = ("+639170000000", "Ana")
                }
        )
        #expect(
            member
                == .with {
                    ($0.memberID, $0.state) = ("m-1", .pending)
                    ($0.phoneNumber, $0.displayName) = ("+639170000000", "Ana")
                    $0.addedAt = Google_Protobuf_Timestamp(seconds: 2)
                }
        )
    }

    @Test func `Lists have pages`() async throws {
        let seen = Mutex<[String]>([])
        gateway.stubs.groups.set { answers in
            answers.listGroups = { request, _ in
                seen.withLock { $0.append("\(request.pageSize) \(request.pageToken)") }
                return .with {
                    $0.groups = [.with { $0.groupID = "g-1" }]
                    $0.nextPageToken = "next"
                }
            }
            answers.listMembers = { request, _ in
                let page = "\(request.pageSize) \(request.pageToken)"
                seen.withLock { $0.append("\(request.groupID) \(page)") }
                return .with { $0.members = [.with { ($0.state, $0.userID) = (.member, "u") }] }
            }
        }
        let client = try AppClients(gateway).groups
        let groups = try await client.listGroups(
            .with { ($0.pageSize, $0.pageToken) = (2, "a/b=") },
            options: AppClients.asUser
        )
        #expect(groups.groups.map(\.groupID) == ["g-1"] && groups.nextPageToken == "next")
        let members = try await client.listMembers(.with { $0.groupID = "g-7" }, options: AppClients.asUser)
        #expect(members.members == [.with { ($0.state, $0.userID) = (.member, "u") }])
        #expect(members.nextPageToken.isEmpty)
        #expect(seen.withLock { $0 } == ["2 a/b=", "g-7 0 "])
    }

    @Test func `The key set is returned and may be cached`() async throws {
        var options = CallOptions()
        let metadata = ResponseMetadata()
        options.responseMetadata = metadata
        let keys = try await AppClients(gateway).keys.getKeySet(.init(), options: options)
        #expect(keys.jwksJson == #"{"keys":[]}"# && keys.maxAgeSeconds == 600)
        #expect(metadata.initial?.first("cache-control") == "public, max-age=600")
    }

    @Test(arguments: [nil, "Basic QTpC", "Bearer", "Bearer a b", "Bearer \(String(repeating: "a", count: 9000))"])
    func `Each method rejects a missing or malformed token`(authorization: String?) async throws {
        let clients = try AppClients(gateway)
        let options = AppClients.options(authorization)
        let reason = authorization?.hasPrefix("Bearer") == true ? "ACCESS_TOKEN_INVALID" : "AUTHENTICATION_REQUIRED"
        let calls: [() async throws -> Void] = [
            { _ = try await clients.account.getMe(.init(), options: options) },
            { _ = try await clients.account.updateMe(.init(), options: options) },
            { _ = try await clients.groups.createGroup(.init(), options: options) },
            { _ = try await clients.groups.listGroups(.init(), options: options) },
            { _ = try await clients.groups.addMember(.init(), options: options) },
            { _ = try await clients.groups.listMembers(.init(), options: options) },
        ]
        for call in calls {
            let error = try await refusal(of: call)
            #expect(error.code == .unauthenticated && error.reason == reason)
        }
        #expect(gateway.stubs.calls.isEmpty)
    }
}
