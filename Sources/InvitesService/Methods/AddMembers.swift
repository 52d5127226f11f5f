import API
import InvitesDomain
import Models
import RPC
import ServiceKit
import ServiceModels

extension GroupMethods {
    /// Adds people by phone number, each as ``addMember(_:context:)`` does, and returns the outcome for each.
    func addMembers(
        _ request: AppV1.AddMembersRequest,
        context: ServerContext
    ) async throws -> AppV1.AddMembersResponse {
        try await context.answer {
            let callerID = try callers.fullUser(of: context)
            let groupID = try GroupID(request.groupID, or: InvitesError.groupNotFound)
            guard 1...Self.peopleMax ~= request.members.count else {
                throw InvitesError.peopleCountInvalid(peopleMax: Self.peopleMax)
            }
            let batch = try Batch(request.members, policy: phonePolicy)
            // Also if no number is valid: an outsider must not learn anything about numbers.
            let answers =
                batch.invitees.isEmpty
                ? try await refuseOutsiders(groupID, callerID, context)
                : try await add(batch.invitees, to: groupID, by: callerID, context)
            var response = AppV1.AddMembersResponse()
            response.results = batch.places.map { place in
                switch place {
                case .invitee(let index): AppV1.AddMembersResult(answers[index])
                case .refused(let fault): AppV1.AddMembersResult(.refused(fault))
                }
            }
            return response
        }
    }

    private func refuseOutsiders(
        _ groupID: GroupID,
        _ callerID: UserID,
        _ context: ServerContext
    ) async throws -> [Roster.Answer] {
        guard try await groups.group(groupID, askedBy: callerID, deadline: context.deadline) != nil else {
            throw InvitesError.notAMember
        }
        return []
    }

    /// The people of a request, each number once.
    private struct Batch {
        /// Where the answer for a person of the request comes from.
        enum Place {
            case invitee(Int)
            case refused(InvitesError)
        }

        private(set) var invitees: [Invitee] = []
        private(set) var places: [Place] = []

        init(_ people: [AppV1.NewMember], policy: PhonePolicy) throws(InvitesError) {
            var indexes: [PhoneNumber: Int] = [:]
            for person in people {
                let invitee: Invitee
                do {
                    invitee = try Invitee(
                        phoneNumber: person.phoneNumber,
                        displayName: person.displayName,
                        policy: policy
                    )
                } catch {
                    guard case .invalidFields = error else { throw error }
                    places.append(.refused(error))
                    continue
                }
                if let index = indexes[invitee.phone] {
                    places.append(.invitee(index))
                } else {
                    indexes[invitee.phone] = invitees.count
                    places.append(.invitee(invitees.count))
                    invitees.append(invitee)
                }
            }
        }
    }
}
