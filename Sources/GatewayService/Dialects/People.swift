import API
import HTTPJSON
import Logging
import RPC

/// Looks up what the services know of a person, for answers that tell more than tokens.
struct People: Sendable {
    /// How long a lookup may take where the answer can do without it.
    static let wait = Duration.seconds(2)

    let identity: IdentityServiceClient
    let profile: ProfileServiceClient

    /// The account of a user.
    func account(_ userID: String, _ options: CallOptions) async throws(RPCError) -> IdentityV1.Account {
        var call = IdentityV1.GetAccountRequest()
        call.userID = userID
        return try await identity.getAccount(call, options: options).account
    }

    /// The profile of a user; an empty one if they told nothing yet.
    func profile(_ userID: String, _ options: CallOptions) async throws(RPCError) -> ProfileV1.Profile {
        var call = ProfileV1.GetProfileRequest()
        call.userID = userID
        return try await profile.getProfile(call, options: options).profile
    }

    /// As ``account(_:_:)``, or nil if it can't be had soon: for answers whose tokens must not be lost.
    func accountIfKnown(_ userID: String, _ context: RouteContext) async -> IdentityV1.Account? {
        do {
            return try await account(userID, context.callOptions(limit: Self.wait))
        } catch {
            context.logger.warning("the account is unknown", metadata: ["rpc_code": "\(error.code)"])
            return nil
        }
    }

    /// As ``profile(_:_:)``, or nil if it can't be had soon: for answers whose tokens must not be lost.
    func profileIfKnown(_ userID: String, _ context: RouteContext) async -> ProfileV1.Profile? {
        do {
            return try await profile(userID, context.callOptions(limit: Self.wait))
        } catch {
            context.logger.warning("the profile is unknown", metadata: ["rpc_code": "\(error.code)"])
            return nil
        }
    }
}

extension IdentityV1.Account {
    /// The first e-mail address that a provider told; empty if none did.
    var email: String { identities.lazy.map(\.email).first { !$0.isEmpty } ?? "" }
}
