import API
import APIDoubles
import RPC
import SwiftProtobuf
import Testing

/// The generated handler, client and descriptors work together over a channel without sockets.
struct GeneratedStubsTests {
    private let profiles = ProfileServiceDouble()
    private let client: ProfileServiceClient

    init() {
        profiles.set { answers in
            answers.lookUpProfile = { request, context in
                guard request.userID != "unknown" else {
                    throw RPCError.domain(.notFound, reason: "USER_ID_INVALID", message: "No such user.")
                }
                return .with {
                    $0.profile.userID = request.userID
                    $0.profile.displayName = context.metadata.first("name") ?? ""
                }
            }
            answers.updateProfile = { request, _ in
                .with { $0.profile.missingFields = request.hasDisplayName ? [] : ["display_name"] }
            }
        }
        var router = Router()
        router.add(profiles)
        client = ProfileServiceClient(InProcessChannel(router))
    }

    @Test func `A call reaches its handler and its answer comes back`() async throws {
        var options = CallOptions()
        options.metadata.add("name", "Reyes")
        let request = ProfileV1.LookUpProfileRequest.with { $0.userID = "a" }
        let profile = try await client.lookUpProfile(request, options: options).profile
        #expect(profile.userID == "a")
        #expect(profile.displayName == "Reyes")
    }

    @Test func `Each method has its own handler`() async throws {
        let absent = try await client.updateProfile(ProfileV1.UpdateProfileRequest())
        #expect(absent.profile.missingFields == ["display_name"])
        let present = try await client.updateProfile(.with { $0.displayName = "" })
        #expect(present.profile.missingFields.isEmpty)
    }

    @Test func `An error keeps its details`() async throws {
        let error = await #expect(throws: RPCError.self) {
            try await client.lookUpProfile(.with { $0.userID = "unknown" })
        }
        #expect(error?.code == .notFound)
        #expect(error?.reason == "USER_ID_INVALID")
    }

    @Test func `A double answers UNIMPLEMENTED, with the method's path, where a test gave it no answer`() async throws {
        profiles.set { $0 = .init() }
        let error = await #expect(throws: RPCError.self) { try await client.lookUpProfile(.init()) }
        #expect(error?.code == .unimplemented)
        #expect(error?.message == "/vestibule.profile.v1.ProfileService/LookUpProfile has no answer in this test")
    }

    @Test func `A double's answers may change between two calls`() async throws {
        #expect(try await client.lookUpProfile(.with { $0.userID = "a" }).profile.userID == "a")
        profiles.set { $0.lookUpProfile = { _, _ in .with { $0.profile.userID = "b" } } }
        #expect(try await client.lookUpProfile(.with { $0.userID = "a" }).profile.userID == "b")
    }

    @Test func `A double streams`() async throws {
        let health = HealthDouble()
        health.set { answers in
            answers.watch = { request, responses, _ in
                for status in [HealthV1.HealthCheckResponse.ServingStatus.notServing, .serving] {
                    try await responses.write(.with { $0.status = request.service == "a" ? status : .unknown })
                }
            }
        }
        var router = Router()
        router.add(health)
        let statuses = try await HealthClient(InProcessChannel(router)).watch(.with { $0.service = "a" }) { answers in
            var statuses: [HealthV1.HealthCheckResponse.ServingStatus] = []
            for try await answer in answers { statuses.append(answer.status) }
            return statuses
        }
        #expect(statuses == [.notServing, .serving])
    }

    @Test func `Descriptors say what the protos say`() {
        #expect(ProfileServiceMethods.getProfile.path == "/vestibule.profile.v1.ProfileService/GetProfile")
        #expect(
            ProfileServiceMethods.all.map(\.method) == [
                "GetProfile", "LookUpProfile", "CheckUsername", "UpdateProfile", "BatchGetProfiles", "SetAvatar",
                "GetAvatar",
                "CloseAccount", "FindPhoneHolder", "FindUsers", "ReleasePhone", "ClaimProvenPhone", "ListPhoneDisputes",
                "CloseIfEmpty",
            ]
        )
        #expect(IdentityServiceMethods.signIn.isIdempotent == false)
        #expect(IdentityServiceMethods.refresh.isIdempotent)
        #expect(IdentityServiceMethods.checkSession.isIdempotent)
        #expect(IdentityServiceMethods.getJWKS.method == "GetJWKS")
        #expect(HealthMethods.watch.kind == .serverStreaming)
        #expect(InvitesServiceMethods.all.allSatisfy { $0.service == InvitesServiceMethods.serviceName })
    }
}
