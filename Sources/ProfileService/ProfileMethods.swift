import API
import Logging
import Models
import ProfileDomain
import RPC
import ServiceKit
import ServiceModels

/// The methods of `vestibule.profile.v1.ProfileService`; each stands in a file of its own.
struct ProfileMethods: ProfileServiceHandler {
    let store: ProfileStore
    /// Tells on whose behalf a method is called, by the keys that are in use now.
    let currentCallers: CurrentCallers
    let phonePolicy: PhonePolicy
    /// What every user is asked for.
    let requiredFields: RequiredFields
    let addressKey: ClientAddressKey
    /// Tells whether those who have what somebody claims still are.
    let closings: AccountClosings
    let clock: WallClock
    let logger: Logger
    /// Called after a commit that put something into the outbox.
    let nudgeOutbox: @Sendable () -> Void

    /// Tells on whose behalf a method is called.
    var callers: ProvenCallers { currentCallers.current }
}
