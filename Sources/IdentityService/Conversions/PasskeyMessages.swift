import API
import Models
import Postgres

extension IdentityV1.Passkey {
    /// A passkey as callers get it.
    init(_ passkey: AccountPasskey) {
        self.init()
        passkeyID = passkey.id.description
        name = passkey.name ?? ""
        createdAtMs = passkey.createdAt.milliseconds
        lastUsedAtMs = passkey.lastUsedAt?.milliseconds ?? 0
        isBackedUp = passkey.isBackedUp
    }
}
