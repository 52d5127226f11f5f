import API
import Models
import ProfileDomain
import RPC

/// Answers `vestibule.profile.v1.ProfileService`. Each method has a file of its own in Methods.
struct ProfileMethods: ProfileServiceHandler {
    let store: ProfileStore
    let policy: PhonePolicy
    let tryLimit: TryLimit
    let clock: WallClock
    /// Called after a commit that put something into the outbox.
    let nudgeOutbox: @Sendable () -> Void
}
