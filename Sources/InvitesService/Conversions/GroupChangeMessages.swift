import API
import InvitesDomain
import Models

extension AppV1.GroupChange {
    /// The change.
    init(_ change: GroupChange) {
        self.init()
        kind =
            switch change.kind {
            case .groupJoined: .groupJoined
            case .groupLeft: .groupLeft
            case .groupChanged: .groupChanged
            case .memberChanged: .memberChanged
            case .invitationChanged: .invitationChanged
            }
        groupID = change.groupID?.description ?? ""
        memberID = change.memberID?.description ?? ""
    }
}
