import API
import SwiftProtobuf

extension AppV1.Passkey {
    /// A passkey as apps get it.
    init(_ passkey: IdentityV1.Passkey) {
        self.init()
        passkeyID = passkey.passkeyID
        name = passkey.name
        createdAt = .init(milliseconds: passkey.createdAtMs)
        if passkey.lastUsedAtMs != 0 { lastUsedAt = .init(milliseconds: passkey.lastUsedAtMs) }
        isBackedUp = passkey.isBackedUp
    }
}
