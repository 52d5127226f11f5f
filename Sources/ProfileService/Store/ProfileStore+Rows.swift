import Models
import Postgres
import ProfileDomain
import ServiceModels

extension ProfileStore {
    /// The columns of a profile's row, in the order in which ``profile(_:_:)`` takes them.
    static let profileColumns =
        "display_name, username, phone, updated_at, proven_phone, phone_taken_at, avatar, revision"
    /// The number of these columns.
    static let profileColumnCount = 8

    /// The profile of a row that begins with ``profileColumns``.
    static func profile(_ userID: UserID, _ row: Row) throws(PostgresError) -> Profile {
        let (displayName, username, phone, updatedAt, provenPhone, takenAt, avatar, revision) = try row.decode(
            String?.self,
            String?.self,
            String?.self,
            PostgresTimestamp?.self,
            String?.self,
            PostgresTimestamp?.self,
            String?.self,
            Int64.self
        )
        return Profile(
            userID: userID,
            displayName: displayName.map(DisplayName.init(stored:)),
            username: username.map(Username.init(stored:)),
            phone: phone.flatMap(PhoneNumber.init(stored:)),
            isPhoneProven: phone != nil && provenPhone == phone,
            phoneTakenAtMilliseconds: takenAt?.milliseconds,
            avatar: avatar.map(Avatar.init(stored:)),
            updatedAtMilliseconds: updatedAt?.milliseconds ?? 0,
            revision: revision
        )
    }
}
