import API
import Models
import RPC
import ServiceKit

/// Answers `vestibule.invites.v1.InvitesService`. Each method has a file of its own in Methods.
struct InvitesMethods: InvitesServiceHandler {
    /// The most events in one request.
    static let eventsMax = 100

    let groups: GroupStore
    let members: MemberStore
    let phones: PhoneStore
    let policy: PhonePolicy
    /// How many members a group may have, pending ones included.
    let groupMembersMax: Int
    let limits: InvitesLimits
    let addressKey: ClientAddressKey
    let clock: WallClock
    let identifiers: IdentifierSource
}
