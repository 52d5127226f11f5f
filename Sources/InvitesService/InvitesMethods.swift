import API
import Models
import RPC
import ServiceKit
import ServiceModels

/// The methods of `vestibule.invites.v1.InvitesService`, for other programs; each stands in a file of its own.
struct InvitesMethods: InvitesServiceHandler {
    /// The most events in one request.
    static let eventsMax = 100

    /// Tells on whose behalf a method is called, by the keys that are in use now.
    let currentCallers: CurrentCallers
    /// Seals positions, by the keys that are in use now.
    let currentCursors: CurrentCursors
    let phones: PhoneStore
    let accounts: AccountStore
    /// Forgets those whose accounts are closed.
    let closings: ClosingRunner
    /// Tells those who watch what changes in their groups.
    let groupEvents: GroupEventHub
    let limits: InvitesLimits
    let clock: WallClock
}
