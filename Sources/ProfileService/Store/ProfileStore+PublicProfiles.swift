import Models
import Postgres
import ProfileDomain
import RPC
import ServiceModels

extension ProfileStore {
    /// The public profiles of those users that have a profile. One round trip.
    func publicProfiles(of userIDs: [UserID], deadline: Deadline?) async throws -> [PublicProfile] {
        let rows = try await database.query(
            "SELECT user_id, display_name, username, avatar FROM profiles WHERE user_id = ANY(\(userIDs.map(\.uuid)))",
            deadline: deadline
        )
        return try rows.map { row in
            let (userID, displayName, username, avatar) = try row.decode(
                PostgresUUID.self,
                String?.self,
                String?.self,
                String?.self
            )
            return PublicProfile(
                userID: UserID(userID),
                displayName: displayName.map(DisplayName.init(stored:)),
                username: username.map(Username.init(stored:)),
                avatar: avatar.map(Avatar.init(stored:))
            )
        }
    }
}
