import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

/// The methods of `vestibule.app.v1.GroupService`, for users; each stands in a file of its own.
struct GroupMethods: GroupServiceHandler {
    /// The most people in one request.
    static let peopleMax = 500

    /// Identifies the users on whose behalf methods are called, by the current keys.
    let currentCallers: CurrentCallers
    /// Seals page tokens, by the current keys.
    let currentCursors: CurrentCursors
    let groups: GroupStore
    let members: MemberStore
    let invitations: InvitationStore
    let pending: PendingStore
    let links: GroupLinkStore
    let blocks: BlockStore
    let phonePolicy: PhonePolicy
    let limits: InvitesLimits
    /// The openness of a group whose creator doesn't name one.
    let groupOpenness: GroupOpenness
    let addressKey: ClientAddressKey
    let clock: WallClock
    let identifiers: IdentifierSource

    /// Identifies the users on whose behalf methods are called.
    var callers: ProvenCallers { currentCallers.current }
}
