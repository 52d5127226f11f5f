import InvitesDomain
import Models

/// Which order of operations that ran at once explains what came of them.
struct Explanation<State, Operation, Answer> {
    /// Does an operation to a state, and tells its answer.
    let perform: (inout State, Operation) -> Answer
    /// Whether an answer of the model is the one that was given.
    let isSame: (Answer, Answer) -> Bool
    /// The state with what the real one alone knows, if it is the real one.
    let match: (State) -> State?

    /// The state after the first order that explains all answers and the state; nil if none does.
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

    /// All states that orders lead to, whatever was answered: to tell what is missed least.
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
    /// Whether the model's answer is one that was given, whatever id the service made for what the model knows no id of.
    ///
    /// - Parameter isAlone: whether nothing else ran at that time.
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
        // An addition looks for room among the pending, counts, and looks for room again. What takes the room between refuses
        // those who were counted in, and not those whom the counts refused.
        case (.refused(.tooManyPending), .refused(.tooManyAttempts)) where !isAlone: true
        case (.known(let mine), .known(let theirs)), (.recognized(let mine), .recognized(let theirs)),
            (.added(let mine), .added(let theirs)):
            mine.isSame(as: theirs)
        case (.refused(let mine), .refused(let theirs)): mine == theirs
        default: false
        }
    }
}
