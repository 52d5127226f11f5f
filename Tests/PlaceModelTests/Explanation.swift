import InvitesDomain
import Models

/// Finds an order of concurrent operations that explains their answers.
struct Explanation<State, Operation, Answer> {
    /// Applies an operation to a state, and returns its answer.
    let perform: (inout State, Operation) -> Answer
    /// Whether an answer of the model equals the real one.
    let isSame: (Answer, Answer) -> Bool
    /// Adds to the state what only the real one contains, if both agree.
    let match: (State) -> State?

    /// The state after the first order that explains all answers and the real state; nil if none does.
    func find(_ start: State, _ operations: [(Operation, Answer)]) -> State? {
        if operations.isEmpty { return match(start) }
        for (index, (operation, answer)) in operations.enumerated() {
            var rest = operations
            rest.remove(at: index)
            var next = start
            guard isSame(perform(&next, operation), answer) else { continue }
            if let found = find(next, rest) { return found }
        }
        return nil
    }

    /// All states that some order leads to, whatever the answers: used to report the smallest difference.
    func outcomes(_ start: State, _ operations: [(Operation, Answer)]) -> [State] {
        if operations.isEmpty { return [start] }
        return operations.indices.flatMap { index in
            var next = start
            _ = perform(&next, operations[index].0)
            var rest = operations
            rest.remove(at: index)
            return outcomes(next, rest)
        }
    }
}

extension PlaceAnswer {
    /// Whether the model's answer equals the real one. Ids are ignored where the model can't know the id made by the service.
    ///
    /// - Parameter isAlone: whether no other operation ran at that time.
    func isSame(as real: PlaceAnswer, isAlone: Bool) -> Bool {
        switch (self, real) {
        case (.member(let mine), .member(let theirs)): mine.isSame(as: theirs)
        case (.added(let mine), .added(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isSame(as: $1, isAlone: isAlone) }
        case (.joined(let mine, let isMember), .joined(let theirs, let isMemberToo)):
            isMember == isMemberToo && (mine == theirs || mine.high == .max)
        default: self == real
        }
    }
}

extension Member {
    func isSame(as real: Member) -> Bool {
        guard id.high == .max else { return self == real }
        return groupID == real.groupID && state == real.state && role == real.role && phone == real.phone
            && isUnconfirmed == real.isUnconfirmed && isUnproven == real.isUnproven && shownPhone == real.shownPhone
            && displayName == real.displayName && addedAtMilliseconds == real.addedAtMilliseconds
    }
}

extension Roster.Answer {
    func isSame(as real: Roster.Answer, isAlone: Bool) -> Bool {
        switch (self, real) {
        // An addition looks for room among the pending, counts, and looks for room again. If another one takes the room in
        // between, the people who were counted are refused, and not those whom the quota refused.
        case (.refused(.tooManyPending), .refused(.tooManyAttempts)) where !isAlone: true
        case (.known(let mine), .known(let theirs)), (.recognized(let mine), .recognized(let theirs)),
            (.added(let mine), .added(let theirs)):
            mine.isSame(as: theirs)
        case (.refused(let mine), .refused(let theirs)): mine == theirs
        default: false
        }
    }
}
