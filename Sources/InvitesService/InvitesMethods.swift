import API
import Models
import RPC
import ServiceKit
import ServiceModels

/// The methods of `vestibule.invites.v1.InvitesService`, for other programs; each stands in a file of its own.
struct InvitesMethods: InvitesServiceHandler {
    /// The most events in one request.
    static let eventsMax = 100

    /// Identifies the users on whose behalf methods are called, by the current keys.
    let currentCallers: CurrentCallers
    /// Seals positions, by the current keys.
    let currentCursors: CurrentCursors
    let phones: PhoneStore
    let accounts: AccountStore
    let groups: GroupStore
    /// Deletes the data of closed accounts.
    let closings: ClosingRunner
    /// Delivers group changes to subscribers.
    let groupEvents: GroupEventHub
    let limits: InvitesLimits
    let clock: WallClock
}
