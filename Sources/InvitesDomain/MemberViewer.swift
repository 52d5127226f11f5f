import Models

/// The member who asks about people of a group, which decides what is shown of them.
public struct MemberViewer: Sendable, Hashable {
    /// The user.
    public let userID: UserID
    /// What the user is in the group.
    public let role: GroupRole

    /// A viewer.
    public init(userID: UserID, role: GroupRole) {
        self.userID = userID
        self.role = role
    }

    /// Returns whether the viewer is shown the phone number that a person was added by: the person themselves, those who added them, the
    /// admins and the owner are.
    ///
    /// - Parameters:
    ///   - personID: the user who the person is; nil if there is none yet.
    ///   - isAddedByViewer: whether the viewer added the person, as the first or after others.
    public func seesPhone(of personID: UserID?, isAddedByViewer: Bool) -> Bool {
        personID == userID || GroupPolicy.may(role, .seePhone(addedByCaller: isAddedByViewer))
    }
}
