import API
import RPC
import RPCTransport

/// The services by gRPC, over one connection of each loop to each address.
struct GRPCTarget: Target {
    private let identity: IdentityServiceClient
    private let profile: ProfileServiceClient
    private let timeout: Duration

    /// Calls over the channels.
    init(identity: RPCChannel, profile: RPCChannel, timeout: Duration) {
        self.identity = IdentityServiceClient(identity)
        self.profile = ProfileServiceClient(profile)
        self.timeout = timeout
    }

    func checkSession(_ account: Account) async throws(CallFailure) {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = account.accessToken
        do {
            _ = try await identity.checkSession(request, options: options)
        } catch {
            throw CallFailure(error)
        }
    }

    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens {
        let request = IdentityV1.RefreshRequest(presentedNow: refreshToken)
        do {
            return SessionTokens(try await identity.refresh(request, options: options).tokens)
        } catch {
            throw CallFailure(error)
        }
    }

    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens {
        var request = IdentityV1.SignInRequest()
        request.provider = "google"
        request.idToken = proof.idToken
        request.nonce = proof.nonce
        request.deviceName = "load generator"
        do {
            return SessionTokens(try await identity.signIn(request, options: options).tokens)
        } catch {
            throw CallFailure(error)
        }
    }

    func getProfile(_ account: Account) async throws(CallFailure) {
        var request = ProfileV1.GetProfileRequest()
        request.userID = account.userID
        do {
            _ = try await profile.getProfile(request, options: options)
        } catch {
            throw CallFailure(error)
        }
    }

    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure) {
        var request = ProfileV1.UpdateProfileRequest()
        request.userID = account.userID
        request.displayName = name
        if let phone { request.phoneNumber = phone }
        do {
            _ = try await profile.updateProfile(request, options: options)
        } catch {
            throw CallFailure(error)
        }
    }

    private var options: CallOptions { CallOptions(timeout: timeout) }
}

extension SessionTokens {
    fileprivate init(_ tokens: IdentityV1.SessionTokens) {
        self.init(accessToken: tokens.accessToken, refreshToken: tokens.refreshToken, userID: tokens.userID)
    }
}

extension CallFailure {
    /// A gRPC call's.
    init(_ error: RPCError) { self.init(code: error.code.description, reason: error.reason ?? error.message) }
}
