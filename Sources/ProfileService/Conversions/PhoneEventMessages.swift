import API
import Models
import ProfileDomain

extension InvitesV1.PhoneEvent {
    /// The message of an event.
    init(_ waiting: PhoneEventWork.Item) {
        self.init()
        eventID = waiting.id.description
        phoneNumber = waiting.event.phone.e164
        switch waiting.event.kind {
        case .claimed:
            var claimed = InvitesV1.PhoneClaimed()
            claimed.userID = waiting.userID.description
            claimed.isProven = waiting.event.isProven
            claimed.takenFromUserID = waiting.event.takenFrom?.description ?? ""
            change = .claimed(claimed)
        case .released:
            var released = InvitesV1.PhoneReleased()
            released.userID = waiting.userID.description
            released.byDeletion = waiting.isByDeletion
            change = .released(released)
        }
    }
}
