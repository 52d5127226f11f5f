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
    /// Identifies the users on whose behalf methods are called, by the current keys.
    let currentCallers: CurrentCallers
    let phonePolicy: PhonePolicy
    /// The fields that every user must give.
    let requiredFields: RequiredFields
    let addressKey: ClientAddressKey
    /// Asks identity whether the holders of claimed numbers and usernames still have accounts.
    let closings: AccountClosings
    let clock: WallClock
    let logger: Logger
    /// Called after a commit that stored an event for invites.
    let phoneChanged: @Sendable () -> Void

    /// Identifies the users on whose behalf methods are called.
    var callers: ProvenCallers { currentCallers.current }
}
