import API
import IdentityDomain

extension CredentialKind {
    /// The kind of credential in a request.
    init(_ request: IdentityV1.SignInRequest) throws(IdentityError) {
        try self.init(
            idToken: request.idToken,
            code: request.authorizationCode,
            accessToken: request.accessToken,
            isUnproven: request.hasUnproven
        )
    }
}

extension EmailReservation {
    /// The address that a request wants to reserve; nil if there is none.
    init?(_ request: IdentityV1.SignInRequest) throws(IdentityError) {
        guard request.hasEmailReservation else { return nil }
        try self.init(dialect: request.emailReservation.dialect, email: request.emailReservation.email)
    }
}

extension UnprovenSignIn {
    /// The sign-in of a request without proof. The session belongs to the client that the request names, or else to the dialect.
    init(
        _ request: IdentityV1.SignInRequest,
        provider: ProviderPolicy,
        allowed: Set<String>
    ) throws(IdentityError) {
        guard request.clientID.isEmpty || provider.audiences[request.clientID] != nil else {
            throw .signIn(.clientUnknown)
        }
        guard request.expectedSubject.isEmpty || request.expectedSubject == request.unproven.subject else {
            throw .signIn(.subjectDiffers)
        }
        try self.init(
            dialect: request.unproven.dialect,
            provider: provider.name,
            subject: request.unproven.subject,
            clientID: request.clientID.isEmpty ? request.unproven.dialect : request.clientID,
            email: request.email,
            fullName: request.fullName,
            deviceName: request.deviceName,
            allowed: allowed
        )
    }
}

extension IdentityV1.SignInRequest {
    /// Whether a new user gets an account.
    var createsAccount: Bool { !hasCreate || create }

    /// Throws unless the credentials name the subject that the app expects.
    func checkSubject(_ subject: String) throws(IdentityError) {
        guard expectedSubject.isEmpty || expectedSubject == subject else { throw .signIn(.subjectDiffers) }
    }
}
