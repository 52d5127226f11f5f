import API
import Models
import RPC
import ServiceKit

/// Answers `vestibule.profile.v1.ProfileService`. Each method has a file of its own in Methods.
struct ProfileMethods: ProfileServiceHandler {
    let store: ProfileStore
    let policy: PhonePolicy
    let addressKey: ClientAddressKey
    let clock: WallClock
    /// Called after a commit that put something into the outbox.
    let nudgeOutbox: @Sendable () -> Void
}
