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

    /// Tells on whose behalf a method is called, by the keys that are in use now.
    let currentCallers: CurrentCallers
    /// Seals page tokens, by the keys that are in use now.
    let currentCursors: CurrentCursors
    let groups: GroupStore
    let members: MemberStore
    let invitations: InvitationStore
    let pending: PendingStore
    let links: GroupLinkStore
    let blocks: BlockStore
    let phonePolicy: PhonePolicy
    let limits: InvitesLimits
    /// How open a group is whose creator doesn't say.
    let groupOpenness: GroupOpenness
    let addressKey: ClientAddressKey
    let clock: WallClock
    let identifiers: IdentifierSource

    /// Tells on whose behalf a method is called.
    var callers: ProvenCallers { currentCallers.current }
}
