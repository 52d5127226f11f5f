import API
import RPC
import RPCTransport
import ServiceKit

/// Calls the services by gRPC, over one connection of each loop to each address.
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

    var needsProofs: Bool { true }

    func checkSession(_ account: Account) async throws(CallFailure) -> ProfileProof? {
        var request = IdentityV1.CheckSessionRequest()
        request.accessToken = account.accessToken
        do {
            return ProfileProof(try await identity.checkSession(request, options: options).callerProofs.profile)
        } catch {
            throw CallFailure(error)
        }
    }

    func refresh(_ refreshToken: String) async throws(CallFailure) -> SessionTokens {
        let request = IdentityV1.RefreshRequest(presentedNow: refreshToken)
        do {
            let refresh = try await identity.refresh(request, options: options)
            return SessionTokens(refresh.tokens, refresh.callerProofs)
        } catch {
            throw CallFailure(error)
        }
    }

    func signIn(_ proof: ProviderProof) async throws(CallFailure) -> SessionTokens {
        var request = IdentityV1.SignInRequest()
        request.provider = "google"
        request.idToken = proof.idToken
        request.nonce = proof.nonce
        if let code = proof.authorizationCode { request.authorizationCode = code }
        request.deviceName = "load generator"
        do {
            let signIn = try await identity.signIn(request, options: options)
            return SessionTokens(signIn.tokens, signIn.callerProofs)
        } catch {
            throw CallFailure(error)
        }
    }

    func getProfile(_ account: Account) async throws(CallFailure) {
        do {
            _ = try await profile.getProfile(.init(), options: options(proving: account))
        } catch {
            throw CallFailure(error)
        }
    }

    func updateProfile(_ account: Account, name: String, phone: String?) async throws(CallFailure) {
        var request = ProfileV1.UpdateProfileRequest()
        request.displayName = name
        if let phone { request.phoneNumber = phone }
        do {
            _ = try await profile.updateProfile(request, options: options(proving: account))
        } catch {
            throw CallFailure(error)
        }
    }

    private var options: CallOptions { CallOptions(timeout: timeout) }

    private func options(proving account: Account) -> CallOptions {
        var options = options
        if let proof = account.profileProof { options.metadata.add(CallerProofKey.metadataName, proof.text) }
        return options
    }
}

extension SessionTokens {
    fileprivate init(_ tokens: IdentityV1.SessionTokens, _ proofs: IdentityV1.CallerProofs) {
        self.init(
            accessToken: tokens.accessToken,
            refreshToken: tokens.refreshToken,
            profileProof: ProfileProof(proofs.profile)
        )
    }
}

extension CallFailure {
    /// The failure of a gRPC call.
    init(_ error: RPCError) { self.init(code: error.code.description, reason: error.reason ?? error.message) }
}
