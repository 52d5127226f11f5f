import API
import Models

extension IdentityV1.Account {
    /// The account as callers see it.
    ///
    /// - Parameter isForOthers: whether the caller acts for someone other than the user: then relay addresses are left out.
    init(_ account: StoredAccount, isForOthers: Bool) {
        self.init()
        userID = account.userID.description
        createdAtMs = account.createdAtMilliseconds
        suggestedDisplayName = account.toldName ?? ""
        accountNumber = account.number
        metadataJson = account.metadata ?? "{}"
        isGuest = account.isGuest
        identities = account.identities.map { IdentityV1.ProviderIdentity($0, isForOthers: isForOthers) }
    }
}

extension IdentityV1.ProviderIdentity {
    /// The identity as callers see it.
    init(_ identity: StoredIdentity, isForOthers: Bool) {
        self.init()
        provider = identity.provider
        subject = identity.subject
        email = isForOthers && identity.isRelay ? "" : identity.email ?? ""
        emailVerified = identity.isEmailVerified
        isPrivateEmail = identity.isPrivateEmail
        createdAtMs = identity.createdAtMilliseconds
        lastSignInAtMs = identity.lastSignInAtMilliseconds
        toldName = identity.toldName ?? ""
        realUserStatus = IdentityV1.RealUserStatus(told: identity.realUserStatus)
        emailUnreachable = identity.isEmailUnreachable
        disabled = identity.isDisabled
    }
}

extension IdentityV1.RealUserStatus {
    /// Apple's status as callers see it.
    init(told: Int16?) {
        self =
            switch told {
            case 0: .unsupported
            case 1: .unknown
            case 2: .likelyReal
            default: .unspecified
            }
    }
}
