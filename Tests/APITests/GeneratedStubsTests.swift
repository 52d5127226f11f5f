import API
import RPC
import SwiftProtobuf
import Testing

/// The generated handler, client and descriptors work together over a channel without sockets.
@Suite("Generated stubs")
struct GeneratedStubsTests {
    private struct Profiles: ProfileServiceHandler {
        func getProfile(
            _ request: ProfileV1.GetProfileRequest,
            context: ServerContext
        ) async throws -> ProfileV1.GetProfileResponse {
            guard request.userID != "unknown" else {
                throw RPCError.domain(.notFound, reason: "USER_ID_INVALID", message: "No such user.")
            }
            var response = ProfileV1.GetProfileResponse()
            response.profile.userID = request.userID
            response.profile.displayName = context.metadata.first("name") ?? ""
            return response
        }

        func updateProfile(
            _ request: ProfileV1.UpdateProfileRequest,
            context: ServerContext
        ) async throws -> ProfileV1.UpdateProfileResponse {
            var response = ProfileV1.UpdateProfileResponse()
            response.profile.missingFields = request.hasDisplayName ? [] : ["display_name"]
            return response
        }
    }

    private let client: ProfileServiceClient

    init() {
        var router = Router()
        Profiles().register(in: &router)
        client = ProfileServiceClient(InProcessChannel(router))
    }

    @Test("a call reaches its handler and its answer comes back")
    func call() async throws {
        var options = CallOptions()
        options.metadata.add("name", "Reyes")
        let request = ProfileV1.GetProfileRequest.with { $0.userID = "a" }
        let profile = try await client.getProfile(request, options: options).profile
        #expect(profile.userID == "a")
        #expect(profile.displayName == "Reyes")
    }

    @Test("each method has its own handler")
    func otherMethod() async throws {
        let absent = try await client.updateProfile(ProfileV1.UpdateProfileRequest())
        #expect(absent.profile.missingFields == ["display_name"])
        let present = try await client.updateProfile(.with { $0.displayName = "" })
        #expect(present.profile.missingFields.isEmpty)
    }

    @Test("an error keeps its details")
    func error() async throws {
        let error = await #expect(throws: RPCError.self) {
            try await client.getProfile(.with { $0.userID = "unknown" })
        }
        #expect(error?.code == .notFound)
        #expect(error?.reason == "USER_ID_INVALID")
    }

    @Test("descriptors say what the protos say")
    func descriptors() {
        #expect(ProfileServiceMethods.getProfile.path == "/vestibule.profile.v1.ProfileService/GetProfile")
        #expect(ProfileServiceMethods.all.map(\.method) == ["GetProfile", "UpdateProfile"])
        #expect(IdentityServiceMethods.signIn.isIdempotent == false)
        #expect(IdentityServiceMethods.refresh.isIdempotent)
        #expect(IdentityServiceMethods.checkSession.isIdempotent)
        #expect(IdentityServiceMethods.getJWKS.method == "GetJWKS")
        #expect(HealthMethods.watch.kind == .serverStreaming)
        #expect(InvitesServiceMethods.all.allSatisfy { $0.service == InvitesServiceMethods.serviceName })
    }
}
