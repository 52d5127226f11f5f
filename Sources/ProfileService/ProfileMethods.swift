import API
import Models
import ProfileDomain
import RPC
import ServiceKit

/// The methods of `vestibule.profile.v1.ProfileService`; each stands in a file of its own.
struct ProfileMethods: ProfileServiceHandler {
    let store: ProfileStore
    let phonePolicy: PhonePolicy
    /// What every user is asked for.
    let requiredFields: RequiredFields
    let addressKey: ClientAddressKey
    let clock: WallClock
    /// Called after a commit that put something into the outbox.
    let nudgeOutbox: @Sendable () -> Void
}
