import API
import Models

extension IdentityV1.Account {
    /// The account as callers see it.
    init(_ account: StoredAccount) {
        self.init()
        userID = account.userID.description
        createdAtMs = account.createdAtMilliseconds
        suggestedDisplayName = account.toldName ?? ""
        accountNumber = account.number
        metadataJson = account.metadata ?? "{}"
        identities = account.identities.map { IdentityV1.ProviderIdentity($0) }
    }
}

extension IdentityV1.ProviderIdentity {
    /// The identity as callers see it.
    init(_ identity: StoredIdentity) {
        self.init()
        provider = identity.provider
        subject = identity.subject
        email = identity.email ?? ""
        emailVerified = identity.isEmailVerified
        isPrivateEmail = identity.isPrivateEmail
        createdAtMs = identity.createdAtMilliseconds
        lastSignInAtMs = identity.lastSignInAtMilliseconds
        toldName = identity.toldName ?? ""
    }
}
