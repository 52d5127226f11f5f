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

    /// The account of who has these proofs.
    func account(
        _ proofs: IdentityV1.CallerProofs,
        _ options: CallOptions
    ) async throws(RPCError) -> IdentityV1.Account {
        try await identity.getAccount(.init(), options: options.proving(proofs.identity)).account
    }

    /// The profile of who has these proofs; an empty one if they told nothing yet.
    func profile(
        _ proofs: IdentityV1.CallerProofs,
        _ options: CallOptions
    ) async throws(RPCError) -> ProfileV1.Profile {
        try await profile.getProfile(.init(), options: options.proving(proofs.profile)).profile
    }

    /// Anybody's account, for an operator. The services let a gateway ask for it only where that is set up.
    func anyAccount(_ userID: String, _ options: CallOptions) async throws(RPCError) -> IdentityV1.Account {
        var call = IdentityV1.LookUpAccountRequest()
        call.userID = userID
        return try await identity.lookUpAccount(call, options: options).account
    }

    /// Anybody's profile, as ``anyAccount(_:_:)``; an empty one for who told nothing yet.
    func anyProfile(_ userID: String, _ options: CallOptions) async throws(RPCError) -> ProfileV1.Profile {
        var call = ProfileV1.LookUpProfileRequest()
        call.userID = userID
        return try await profile.lookUpProfile(call, options: options).profile
    }

    /// As ``account(_:_:)``, or nil if it can't be had soon: for answers whose tokens must not be lost.
    func accountIfKnown(_ proofs: IdentityV1.CallerProofs, _ context: RouteContext) async -> IdentityV1.Account? {
        do {
            return try await account(proofs, context.callOptions(limit: Self.wait))
        } catch {
            context.logger.warning("the account is unknown", metadata: ["rpc_code": "\(error.code)"])
            return nil
        }
    }

    /// As ``profile(_:_:)``, or nil if it can't be had soon: for answers whose tokens must not be lost.
    func profileIfKnown(_ proofs: IdentityV1.CallerProofs, _ context: RouteContext) async -> ProfileV1.Profile? {
        do {
            return try await profile(proofs, context.callOptions(limit: Self.wait))
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
