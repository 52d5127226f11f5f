import API
import InvitesDomain
import Models

extension PhoneEvent {
    /// The event of a message; nil if the message is incomplete.
    ///
    /// Checks the number's form, not whether this service would accept it: a number that the profile service once accepted is a fact, even
    /// if the two are configured differently.
    init?(_ message: InvitesV1.PhoneEvent) {
        guard let id = EventID(message.eventID), let phone = PhoneNumber(stored: message.phoneNumber) else {
            return nil
        }
        switch message.change {
        case .claimed(let claimed):
            guard let userID = UserID(claimed.userID) else { return nil }
            let takenFrom = UserID(claimed.takenFromUserID)
            guard takenFrom != nil || claimed.takenFromUserID.isEmpty else { return nil }
            self.init(
                id: id,
                phone: phone,
                change: .claimed(by: userID, takenFrom: takenFrom, isProven: claimed.isProven)
            )
        case .released(let released):
            guard let userID = UserID(released.userID) else { return nil }
            self.init(id: id, phone: phone, change: .released(by: userID, byDeletion: released.byDeletion))
        case nil:
            return nil
        }
    }
}
