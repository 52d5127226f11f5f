import Models

/// The member who makes the request, which decides what is shown of other people of the group.
public struct MemberViewer: Sendable, Hashable {
    /// The user.
    public let userID: UserID
    /// The user's role in the group.
    public let role: GroupRole

    /// A viewer.
    public init(userID: UserID, role: GroupRole) {
        self.userID = userID
        self.role = role
    }

    /// Returns whether the viewer sees the phone number that a person was added by. The person, the users who added the person, the admins
    /// and the owner see it.
    ///
    /// - Parameters:
    ///   - personID: the user who the person is; nil until there is one.
    ///   - isAddedByViewer: whether the viewer added the person, as the first or after others.
    public func seesPhone(of personID: UserID?, isAddedByViewer: Bool) -> Bool {
        personID == userID || GroupPolicy.may(role, .seePhone(addedByCaller: isAddedByViewer))
    }
}
