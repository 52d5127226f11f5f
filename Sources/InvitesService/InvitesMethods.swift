import API
import Models
import RPC
import ServiceKit

/// The methods of `vestibule.invites.v1.InvitesService`; each stands in a file of its own.
struct InvitesMethods: InvitesServiceHandler {
    /// The most events in one request.
    static let eventsMax = 100

    let groups: GroupStore
    let members: MemberStore
    let phones: PhoneStore
    let phonePolicy: PhonePolicy
    let limits: InvitesLimits
    let addressKey: ClientAddressKey
    let clock: WallClock
    let identifiers: IdentifierSource
}
