import Models
import ProfileDomain

/// The parameters of the model of numbers.
struct NumberRules: Sendable {
    /// For how long other users can't type a number that was given up.
    var coolDownMilliseconds: Int64 = 3_600_000
    /// For how long after that its former typist is remembered.
    let typistMilliseconds: Int64 = 30 * 86_400_000
}

/// An event that a number has a new user, or none.
struct NumberEvent: Equatable, Sendable {
    /// The service's id of the event; nil until it is known.
    var id: EventID?
    let isClaim: Bool
    let phone: String
    let userID: UserID
    var isByDeletion = false
    var isProven = false
    var takenFrom: UserID?

    /// The same except for the id.
    var content: NumberEvent {
        var event = self
        event.id = nil
        return event
    }
}

/// All that the profile service stores about numbers, as plain values.
struct NumberState: Equatable, Sendable {
    struct Profile: Equatable, Sendable {
        var phone: String?
        var isProven = false
        /// Whether another user's proof took the number, and the user has saved none since.
        var isTaken = false
        /// When the user or an operator last decided which number they have.
        var chosenAt: Int64?
    }

    struct Holder: Equatable, Sendable {
        let userID: UserID
        var isProven = false
    }

    struct Cooling: Equatable, Sendable {
        let userID: UserID
        let until: Int64
        let wasProven: Bool
    }

    struct Dispute: Equatable, Sendable {
        let holder: UserID
        let phone: String
    }

    var profiles: [UserID: Profile] = [:]
    var holders: [String: Holder] = [:]
    var cooling: [String: Cooling] = [:]
    var closed: Set<UserID> = []
    var refused: Set<EventID> = []
    /// The results of proofs.
    var proofs: [EventID: NumberAnswer] = [:]
    var disputes: [UserID: Dispute] = [:]
    /// The undelivered events for invites, oldest first.
    var outbox: [NumberEvent] = []
    /// Whether a claim may miss a waiting time that began during the claim, as the service documents; and for which numbers
    /// one did.
    var missesNewWaits = false
    var newWaits: Set<String> = []
}

/// An operation on numbers by a user, a provider, an operator or another service.
enum NumberOperation: Sendable {
    case save(UserID, phone: PhoneNumber?)
    case prove(UserID, phone: PhoneNumber, EventID, ProvenClaim.Judgement?, outdatedAfter: Int64)
    case release(UserID, expected: PhoneNumber?)
    case close(UserID)
    case closeIfEmpty(UserID, EventID)
}

/// The answer to an operation.
enum NumberAnswer: Equatable, Sendable {
    case saved(phone: String?, isProven: Bool)
    case held(by: UserID)
    case fault(ProfileError)
    case proven(takenFrom: [UserID])
    case conflict
    case outdated
    case judge(UserID)
    case released(String?)
    case verdict(Bool)
    case done
}

extension NumberState {
    mutating func perform(_ operation: NumberOperation, _ rules: NumberRules, _ now: Int64) -> NumberAnswer {
        switch operation {
        case .save(let userID, let phone): return save(userID, phone?.digits, rules, now)
        case .prove(let userID, let phone, let event, let judgement, let outdatedAfter):
            if closed.contains(userID) { return .fault(.accountClosed) }
            if let earlier = proofs[event] { return earlier }
            let answer =
                isOutdated(userID, phone.digits, outdatedAfter) ?? prove(userID, phone.digits, judgement, rules, now)
            if case .judge = answer { return answer }
            proofs[event] = answer
            return answer
        case .release(let userID, let expected): return release(userID, expected?.digits, now)
        case .close(let userID):
            if let phone = profiles[userID]?.phone {
                holders[phone] = nil
                outbox.append(NumberEvent(isClaim: false, phone: phone, userID: userID, isByDeletion: true))
            }
            forget(userID)
            return .done
        case .closeIfEmpty(let userID, let absorption):
            let isEmpty =
                profiles[userID]?.phone == nil && !refused.contains(absorption)
                && !outbox.contains { $0.userID == userID || $0.takenFrom == userID }
            guard closed.contains(userID) || isEmpty else {
                refused.insert(absorption)
                return .verdict(false)
            }
            forget(userID)
            return .verdict(true)
        }
    }

    private mutating func forget(_ userID: UserID) {
        closed.insert(userID)
        profiles[userID] = nil
        disputes = disputes.filter { $0.key != userID && $0.value.holder != userID }
        cooling = cooling.filter { $0.value.userID != userID }
        proofs = proofs.mapValues { answer in
            guard case .proven(let losers) = answer else { return answer }
            return .proven(takenFrom: losers.filter { $0 != userID })
        }
    }

    private mutating func save(
        _ userID: UserID,
        _ phone: String?,
        _ rules: NumberRules,
        _ now: Int64
    ) -> NumberAnswer {
        if closed.contains(userID) { return .fault(.accountClosed) }
        var profile = profiles[userID] ?? Profile()
        guard phone != profile.phone else { return .saved(phone: phone, isProven: profile.isProven) }
        if let phone {
            if let holder = holders[phone] { return .held(by: holder.userID) }
            if let cool = cooling[phone], cool.userID != userID, cool.until > now,
                !(missesNewWaits && newWaits.contains(phone))
            {
                return .held(by: cool.userID)
            }
            holders[phone] = Holder(userID: userID)
        }
        if let old = profile.phone {
            holders[old] = nil
            coolDown(old, of: userID, profile, until: now + rules.coolDownMilliseconds)
            outbox.append(NumberEvent(isClaim: false, phone: old, userID: userID))
        }
        if let phone {
            outbox.append(NumberEvent(isClaim: true, phone: phone, userID: userID))
            profile.isTaken = false
        }
        (profile.phone, profile.isProven, profile.chosenAt) = (phone, false, now)
        profiles[userID] = profile
        return .saved(phone: phone, isProven: false)
    }

    /// A proof that was accepted before its user chose the current number changes nothing for that user.
    private mutating func isOutdated(_ userID: UserID, _ phone: String, _ outdatedAfter: Int64) -> NumberAnswer? {
        guard let profile = profiles[userID], profile.phone != phone, let chosenAt = profile.chosenAt,
            chosenAt >= outdatedAfter
        else { return nil }
        if let cool = cooling[phone], cool.userID == userID {
            cooling[phone] = Cooling(userID: userID, until: cool.until, wasProven: true)
        }
        return .outdated
    }

    private mutating func prove(
        _ userID: UserID,
        _ phone: String,
        _ judgement: ProvenClaim.Judgement?,
        _ rules: NumberRules,
        _ now: Int64
    ) -> NumberAnswer {
        var losers: [UserID] = []
        if let holder = holders[phone], holder.userID != userID {
            if holder.isProven {
                guard let judgement, judgement.userID == holder.userID else { return .judge(holder.userID) }
                guard judgement.isIdle else {
                    disputes[userID] = Dispute(holder: holder.userID, phone: phone)
                    return .conflict
                }
            }
            profiles[holder.userID] = Profile(isTaken: true, chosenAt: profiles[holder.userID]?.chosenAt)
            losers.append(holder.userID)
        }
        // A user who typed the number and gave it up loses their places all the same.
        if let cool = cooling[phone], !cool.wasProven, cool.until > now - rules.typistMilliseconds {
            if cool.userID != userID, !losers.contains(cool.userID) { losers.append(cool.userID) }
        }
        var profile = profiles[userID] ?? Profile()
        if profile.phone != phone {
            if let old = profile.phone {
                holders[old] = nil
                coolDown(old, of: userID, profile, until: now + rules.coolDownMilliseconds)
                outbox.append(NumberEvent(isClaim: false, phone: old, userID: userID))
            }
        }
        if losers.isEmpty, profile.phone != phone || !profile.isProven { tell(phone, provenBy: userID, nil) }
        for loser in losers { tell(phone, provenBy: userID, loser) }
        holders[phone] = Holder(userID: userID, isProven: true)
        profile = Profile(phone: phone, isProven: true, chosenAt: profile.chosenAt)
        profiles[userID] = profile
        cooling[phone] = nil
        if disputes[userID]?.phone == phone { disputes[userID] = nil }
        return .proven(takenFrom: losers)
    }

    private mutating func tell(_ phone: String, provenBy userID: UserID, _ loser: UserID?) {
        outbox.append(NumberEvent(isClaim: true, phone: phone, userID: userID, isProven: true, takenFrom: loser))
    }

    private mutating func coolDown(_ phone: String, of userID: UserID, _ profile: Profile, until: Int64) {
        cooling[phone] = Cooling(userID: userID, until: until, wasProven: profile.isProven)
        newWaits.insert(phone)
    }

    private mutating func release(_ userID: UserID, _ expected: String?, _ now: Int64) -> NumberAnswer {
        guard let profile = profiles[userID], let phone = profile.phone, expected == nil || expected == phone
        else { return .released(nil) }
        holders[phone] = nil
        if !profile.isProven { coolDown(phone, of: userID, profile, until: now) }
        profiles[userID]?.phone = nil
        profiles[userID]?.isProven = false
        profiles[userID]?.chosenAt = now
        outbox.append(NumberEvent(isClaim: false, phone: phone, userID: userID))
        return .released(phone)
    }

    /// The same state, with the other's waiting events if both have the same events in the same order for each number.
    func matched(to real: NumberState) -> NumberState? {
        var (mine, theirs) = (self, real)
        for phone in Set(outbox.map(\.phone)).union(real.outbox.map(\.phone)) {
            let expected = outbox.filter { $0.phone == phone }.map(\.content)
            guard expected == real.outbox.filter({ $0.phone == phone }).map(\.content) else { return nil }
        }
        mine.outbox = real.outbox
        (theirs.proofs, theirs.missesNewWaits, theirs.newWaits) = (proofs, missesNewWaits, newWaits)
        mine.profiles = profiles.filter { $0.value != Profile() }
        return mine == theirs ? mine : nil
    }
}
