import API
import RPC

extension AppMethods {
    /// Opens a session for what a provider gave the app. Which of it proves anything is identity's to decide.
    func signInWithProvider(
        _ request: AppV1.SignInWithProviderRequest,
        _ caller: Caller
    ) async throws -> AppV1.SignInWithProviderResponse {
        let key = try authentication.provenKey(caller)
        let options = authentication.callOptionsWithAddress(caller).naming(key)
        let signIn = try await identity.signIn(IdentityV1.SignInRequest(request), options: options)
        let missing = await missingFields(signIn.callerProofs, caller)
        var response = AppV1.SignInWithProviderResponse()
        response.tokens = AppV1.SessionTokens(signIn.tokens)
        response.isNewUser = signIn.isNewUser
        response.missingFields = missing ?? []
        response.missingFieldsUnknown = missing == nil
        response.suggestedDisplayName = signIn.suggestedDisplayName
        return response
    }
}

extension IdentityV1.SignInRequest {
    /// The credentials as identity takes them.
    init(_ request: AppV1.SignInWithProviderRequest) {
        self.init()
        provider = request.provider
        idToken = request.idToken
        nonce = request.nonce
        authorizationCode = request.authorizationCode
        accessToken = request.accessToken
        clientID = request.clientID
        redirectUri = request.redirectUri
        codeVerifier = request.codeVerifier
        fullName = request.fullName
        email = request.email
        deviceName = request.deviceName
        if request.hasCreate { create = request.create }
    }
}
