import API
import Models
import Postgres
import RPC
import ServiceKit
import ServiceModels
import Testing

@testable import ProfileService

extension ProfileFixture {
    /// Claims a number for a user by proof.
    @discardableResult
    func prove(
        _ number: String,
        of user: UserID,
        event: EventID? = nil,
        by proof: ProfileV1.PhoneProof = .assertion,
        mayOpen: Bool = false,
        outdatedAfter: Int64? = nil
    ) async throws(RPCError) -> ProfileV1.ClaimProvenPhoneResponse {
        var request = ProfileV1.ClaimProvenPhoneRequest()
        (request.userID, request.phoneNumber, request.proof) = (user.description, number, proof)
        request.eventID = (event ?? identifiers.make()).description
        request.mayOpen = mayOpen
        if let outdatedAfter { request.acceptedForMs = clock.clock.nowMilliseconds - outdatedAfter }
        return try await client.claimProvenPhone(request)
    }

    /// What waits for invites, oldest first, with what the proofs add and the last digit of the number.
    func toldInFull() async throws -> [String] {
        try await database.query(
            """
            SELECT concat_ws(' ', data ->> 'kind', right(key, 1), user_id, CASE WHEN data ->> 'is_proven' = 'true' THEN 'proven' END,
                'from ' || (data ->> 'taken_from'))
            FROM work WHERE queue = 'phone_events' ORDER BY id
            """
        ).map { try $0.decode(0, as: String.self) }
    }

}

private let identifiers = IdentifierSource()

/// A small number as a provider says it.
func e164(_ number: Int) -> String { "+\(digits(number))" }
