import API
import APIDoubles
import RPC
import SwiftProtobuf
import Synchronization

/// Simulates profile and invites: records which accounts they deleted, and can be down or fail.
final class OtherServices: Sendable {
    private struct State {
        var closed: [String: [String]] = [:]
        var successors: [String: String] = [:]
        var failures: [String: Status.Code] = [:]
        var people: [String: ProfileV1.Profile] = [:]
        var released: [String] = []
        var proofs: [ProfileV1.ClaimProvenPhoneRequest] = []
        var proofAnswer: Result<ProfileV1.ClaimProvenPhoneResponse, RPCError> = .success(.with { $0.outcome = .proven })
        /// The accounts with an imported number.
        var imported: [String: String] = [:]
        var disputes: [ProfileV1.PhoneDispute] = []
        var answersOfAbsorptions: Absorptions?
    }

    /// The state of absorptions at the services.
    struct Absorptions: Sendable {
        /// Which accounts have a number at profile, and which are in a group at invites.
        var withNumber: Set<String> = []
        var inGroup: Set<String> = []
        /// Which accounts invites holds, by absorption, and which profile has closed.
        var held: [String: String] = [:]
        var closed: Set<String> = []
        /// The calls, in order.
        var calls: [String] = []
        /// What is lost of the next calls: the call before it is done, or the answer after it.
        var lost: [String] = []
        /// Which calls reach a replica of a version that doesn't know them.
        var unknown: Set<String> = []
    }

    /// From the first change on the services answer calls about absorptions.
    func absorptions(_ change: (inout Absorptions) -> Void = { _ in }) -> Absorptions {
        state.withLock { state in
            var absorptions = state.answersOfAbsorptions ?? Absorptions()
            change(&absorptions)
            state.answersOfAbsorptions = absorptions
            return absorptions
        }
    }

    private func absorb<Answer>(_ name: String, _ body: (inout Absorptions) -> Answer) throws -> Answer {
        try state.withLock { state in
            guard var absorptions = state.answersOfAbsorptions, !absorptions.unknown.contains(name) else {
                throw RPCError(.unimplemented, "not known")
            }
            defer { state.answersOfAbsorptions = absorptions }
            absorptions.calls.append(name)
            func isLost(_ what: String) -> Bool {
                guard let index = absorptions.lost.firstIndex(of: what) else { return false }
                absorptions.lost.remove(at: index)
                return true
            }
            if isLost("before \(name)") { throw RPCError(.unavailable, "lost") }
            let answer = body(&absorptions)
            if isLost("after \(name)") { throw RPCError(.unavailable, "lost") }
            return answer
        }
    }

    private let state = Mutex(State())

    /// Services that are down, for tests of other things.
    static let profile = ProfileServiceClient(InProcessChannel(Router()))
    static let invites = InvitesServiceClient(InProcessChannel(Router()))

    /// The error that profile or invites returns while it is set.
    func fail(_ service: String, _ code: Status.Code?) { state.withLock { $0.failures[service] = code } }

    /// The accounts that profile or invites was asked to delete, repetitions included.
    func closed(at service: String) -> [String] { state.withLock { $0.closed[service] ?? [] } }

    /// Which account takes the place of which in groups, as identity has said to invites.
    var successors: [String: String] { state.withLock { $0.successors } }

    /// Sets an account's name and number at profile.
    func tell(_ userID: String, name: String, phoneNumber: String, username: String = "") {
        let profile = ProfileV1.Profile.with {
            ($0.userID, $0.displayName, $0.phoneNumber, $0.username) = (userID, name, phoneNumber, username)
        }
        state.withLock { $0.people[userID] = profile }
    }

    /// The accounts whose number profile was asked to release, repetitions included.
    var released: [String] { state.withLock { $0.released } }

    private func ask<Answer: Sendable>(_ question: (inout State) -> Answer) throws -> Answer {
        try state.withLock { state in
            if let code = state.failures["profile"] { throw RPCError(code, "not now") }
            return question(&state)
        }
    }

    /// The proven numbers that profile received, repetitions included.
    var proofs: [ProfileV1.ClaimProvenPhoneRequest] { state.withLock { $0.proofs } }

    /// How profile answers about proven numbers from now on.
    func answerProofs(_ answer: Result<ProfileV1.ClaimProvenPhoneResponse, RPCError>) {
        state.withLock { $0.proofAnswer = answer }
    }

    /// From now on an account has an imported number at profile.
    func importNumber(_ number: String, of userID: String) { state.withLock { $0.imported[number] = userID } }

    /// The disputes at profile.
    func dispute(_ disputes: [ProfileV1.PhoneDispute]) { state.withLock { $0.disputes = disputes } }

    private func answerForPhones(_ answers: inout ProfileServiceDouble.Answers) {
        answers.claimProvenPhone = { request, _ in
            try self.ask { state -> Result<ProfileV1.ClaimProvenPhoneResponse, RPCError> in
                state.proofs.append(request)
                if state.answersOfAbsorptions?.closed.contains(request.userID) == true {
                    return .failure(.domain(.unauthenticated, reason: "SESSION_REVOKED", message: "It is closed."))
                }
                if let holder = state.imported[request.phoneNumber], holder != request.userID {
                    return .success(
                        .with {
                            $0.outcome = request.mayOpen ? .opens : .conflict
                            if request.mayOpen { $0.holderUserID = holder }
                        }
                    )
                }
                return state.proofAnswer
            }.get()
        }
        answers.listPhoneDisputes = { request, _ in
            guard request.pageSize >= 0 else {
                throw RPCError.domain(.invalidArgument, reason: "PAGE_SIZE_INVALID", message: "Negative.")
            }
            return try self.ask { state in .with { $0.disputes = state.disputes } }
        }
    }

    private func answerForOperators(_ answers: inout ProfileServiceDouble.Answers) {
        answers.lookUpProfile = { request, _ in
            try self.ask { state in .with { $0.profile = state.people[request.userID] ?? .init() } }
        }
        answers.findPhoneHolder = { request, _ in
            let digits = request.phoneNumber
            guard digits.hasPrefix("+") else {
                throw RPCError.domain(.invalidArgument, reason: "PHONE_INVALID", message: "This is no number.")
            }
            return try self.ask { state in
                .with {
                    $0.phoneNumber = digits
                    $0.userID = state.people.values.first { $0.phoneNumber == digits }?.userID ?? ""
                }
            }
        }
        answers.findUsers = { request, _ in
            try self.ask { state in
                let found = state.people.values.filter { person in
                    switch request.by {
                    case .username(let name): person.username.lowercased() == name.lowercased()
                    case .namePrefix(let text): person.displayName.lowercased().hasPrefix(text.lowercased())
                    case nil: false
                    }
                }
                return .with {
                    $0.userIds = found.map(\.userID).sorted().prefix(2).map { $0 }
                    $0.isIncomplete = found.count > 2
                }
            }
        }
        answers.releasePhone = { request, _ in
            try self.ask { state in
                state.released.append(request.userID)
                let phone = state.people[request.userID]?.phoneNumber ?? ""
                guard request.phoneNumber.isEmpty || request.phoneNumber == phone else { return .init() }
                state.people[request.userID]?.phoneNumber = ""
                return .with { $0.phoneNumber = phone }
            }
        }
    }

    private func close(_ userID: String, at service: String) throws {
        try state.withLock { state in
            if let code = state.failures[service] { throw RPCError(code, "not now") }
            state.closed[service, default: []].append(userID)
        }
    }

    /// A client of the simulated profile.
    var profile: ProfileServiceClient {
        var answers = ProfileServiceDouble.Answers()
        answers.closeAccount = { request, _ in
            try self.close(request.userID, at: "profile")
            return ProfileV1.CloseAccountResponse()
        }
        answerForOperators(&answers)
        answerForPhones(&answers)
        answers.closeIfEmpty = { request, _ in
            try self.absorb("profile.closeIfEmpty") { known in
                let isEmpty =
                    known.closed.contains(request.userID) || request.isGuest
                    || !known.withNumber.contains(request.userID)
                if isEmpty { known.closed.insert(request.userID) }
                return .with { $0.isEmpty = isEmpty }
            }
        }
        return ProfileServiceClient(InProcessChannel(router(ProfileServiceDouble(answers))))
    }

    /// A client of the simulated invites.
    var invites: InvitesServiceClient {
        var answers = InvitesServiceDouble.Answers()
        answers.closeAccount = { request, _ in
            try self.close(request.userID, at: "invites")
            if !request.successorUserID.isEmpty {
                self.state.withLock { $0.successors[request.userID] = request.successorUserID }
            }
            return InvitesV1.CloseAccountResponse()
        }
        answers.lookUpGroups = { request, _ in
            if let code = self.state.withLock({ $0.failures["invites"] }) { throw RPCError(code, "not now") }
            return .with {
                $0.groups = [.with { ($0.groupID, $0.name, $0.role) = (request.userID, "Hikers", .admin) }]
                $0.isIncomplete = true
            }
        }
        answers.closeIfEmpty = { request, _ in
            try self.absorb("invites.closeIfEmpty") { known in
                let isEmpty =
                    known.held[request.userID] != nil || request.isGuest || !known.inGroup.contains(request.userID)
                if isEmpty { known.held[request.userID] = request.absorptionID }
                return .with { $0.isEmpty = isEmpty }
            }
        }
        answers.reopenAccount = { request, _ in
            try self.absorb("invites.reopenAccount") { known in
                if known.held[request.userID] == request.absorptionID { known.held[request.userID] = nil }
                return .init()
            }
        }
        return InvitesServiceClient(InProcessChannel(router(InvitesServiceDouble(answers))))
    }

    private func router(_ service: any RPCService) -> Router {
        var router = Router()
        service.register(in: &router)
        return router
    }
}
