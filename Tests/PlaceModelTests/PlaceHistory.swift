import InvitesDomain
import Models
import ProfileDomain
import ServiceKit
import Synchronization

/// Numbers that repeat from a seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return bits ^ bits >> 31
    }

    mutating func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &self) == 0 }
    mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }
}

/// Ids that sort by their making, each in a millisecond of its own.
final class Identifiers: Sendable {
    private let milliseconds = Mutex<Int64>(1_600_000_000_000)

    var source: IdentifierSource {
        IdentifierSource(
            clock: WallClock {
                self.milliseconds.withLock { now in
                    now += 1
                    return now
                }
            }
        )
    }
}

/// The places and numbers of a few people out of a seed: rounds of operations that run at once on the same few groups and numbers.
/// After each it is known what is there, and some order of the round's operations must explain that and every answer.
struct PlaceHistory {
    /// The services' databases, and how they are used.
    struct Services: Sendable {
        let places: PlaceStores
        let numbers: NumberStores
        let identifiers: IdentifierSource
    }

    let seed: UInt64
    let services: Services
    var random: SeededNumbers
    var places = PlaceState()
    var numbers = NumberState()
    var scope = HistoryScope()
    var now: Int64 = 1_700_000_000_000
    var users: [UserID] = []
    let phones: [PhoneNumber]
    var linkIDs: [GroupLinkID] = []
    var proofs: [NumberOperation] = []
    var told: [[InvitesDomain.PhoneEvent]] = []
    /// What other services will ask for, one thing after the other.
    var duePlaces: [PlaceOperation] = []
    var dueNumbers: [NumberOperation] = []
    var tally = PlaceTally()
    private(set) var steps: [String] = []

    init(seed: UInt64, first phone: Int, _ services: Services) {
        self.seed = seed
        self.services = services
        random = SeededNumbers(seed: seed)
        phones = (0..<5).compactMap { PhoneNumber(stored: "63917\(1_000_000 + phone + $0)") }
        scope.phones = phones.map(\.digits)
        for _ in 0..<6 { addUser() }
    }

    mutating func addUser() {
        let userID = services.identifiers.make(UserID.self)
        users.append(userID)
        scope.users.append(userID)
    }

    /// Lives it, and throws a ``PlaceViolation`` for what no order explains.
    mutating func run(rounds: Int) async throws {
        for openness in [GroupOpenness.open, [.confirm, .consent, .open][random.below(3)]] {
            try await round([newGroup(openness)], [])
        }
        if random.oneIn(2) { try await populate() }
        for _ in 0..<rounds {
            let steps: [Int64] = [0, 1, 1_000, 30_000, 3_600_000, 86_400_000]
            now += random.oneIn(3) ? steps[random.below(steps.count)] : 1
            try await round(somePlaceOperations(), someNumberOperations())
        }
        try await settle()
        try checkEnd()
    }

    /// Everybody with a number is in the first group, and some are admins.
    private mutating func populate() async throws {
        guard let (id, group) = places.groups.min(by: { $0.key < $1.key }) else { return }
        try await round([], zip(users, phones).map { .save($0, phone: $1) })
        while !numbers.outbox.isEmpty { try await round([.apply(numbers.outbox.prefix(5).compactMap(\.told))], []) }
        let people = phones.map { NewPerson(phone: $0, name: "Dan", id: services.identifiers.make()) }
        try await round([.add(people, to: id, by: group.ownerID)], [])
        let members = places.groups[id]?.rows.values.filter { $0.userID != nil }.map(\.id).sorted() ?? []
        try await round(members.suffix(2).map { .setRole(.admin, of: $0, in: id, by: group.ownerID) }, [])
    }

    /// What is under way comes to its end.
    private mutating func settle() async throws {
        for _ in 0..<100 where !(duePlaces.isEmpty && dueNumbers.isEmpty && numbers.outbox.isEmpty) {
            now += 1
            var operations: [PlaceOperation] = []
            if !duePlaces.isEmpty { operations.append(duePlaces.removeFirst()) }
            if let events = nextEvents() { operations.append(.apply(events)) }
            try await round(operations, dueNumbers.isEmpty ? [] : [dueNumbers.removeFirst()])
        }
        guard duePlaces.isEmpty, dueNumbers.isEmpty, numbers.outbox.isEmpty else {
            throw violation("what is under way comes to no end", [])
        }
    }

    mutating func nextEvents() -> [InvitesDomain.PhoneEvent]? {
        var events: [InvitesDomain.PhoneEvent] = []
        for event in numbers.outbox.prefix(1 + random.below(5)) {
            if let told = event.told { events.append(told) }
        }
        return events.isEmpty ? nil : events
    }

    // MARK: - Rounds

    mutating func round(_ operations: [PlaceOperation], _ numberOperations: [NumberOperation]) async throws {
        let (services, now) = (services, now)
        var answers: [(PlaceOperation, PlaceAnswer)] = []
        var numberAnswers: [(NumberOperation, NumberAnswer)] = []
        try await withThrowingTaskGroup(of: Done.self) { tasks in
            for operation in operations {
                tasks.addTask { .place(operation, try await services.places.perform(operation, now)) }
            }
            for operation in numberOperations {
                tasks.addTask { .number(operation, try await services.numbers.perform(operation, now)) }
            }
            for try await done in tasks {
                switch done {
                case .place(let operation, let answer): answers.append((operation, answer))
                case .number(let operation, let answer): numberAnswers.append((operation, answer))
                }
            }
        }
        // What was under way in the moment of a closing is forgotten by a second one.
        let closed = operations.compactMap { if case .close(let userID) = $0 { userID } else { nil } }
        if operations.count > 1 {
            for userID in closed { _ = try await services.places.perform(.close(userID), now) }
        }
        note(answers, numberAnswers)
        try await explainNumbers(numberAnswers)
        try await explainPlaces(answers, closed)
        try await follow(answers, numberAnswers)
    }

    private enum Done: Sendable {
        case place(PlaceOperation, PlaceAnswer)
        case number(NumberOperation, NumberAnswer)
    }

    private mutating func note(
        _ answers: [(PlaceOperation, PlaceAnswer)],
        _ numberAnswers: [(NumberOperation, NumberAnswer)]
    ) {
        tally.operations += answers.count + numberAnswers.count
        tally.refusals += answers.count { if case .fault = $0.1 { true } else { false } }
        tally.refusals += numberAnswers.count { if case .fault = $0.1 { true } else { false } }
        steps.append("round \(steps.count) at \(now - 1_700_000_000_000)")
        for (operation, answer) in numberAnswers { steps.append("  \(operation): \(answer)") }
        for (operation, answer) in answers { steps.append("  \(operation): \(answer)") }
    }

    private mutating func explainNumbers(_ answers: [(NumberOperation, NumberAnswer)]) async throws {
        guard !answers.isEmpty else { return }
        let real = try await services.numbers.read(scope)
        let (rules, now) = (services.numbers.rules, now)
        let explanation = Explanation<NumberState, NumberOperation, NumberAnswer>(
            perform: { $0.perform($1, rules, now) },
            isSame: ==,
            match: { $0.matched(to: real) }
        )
        var start = numbers
        start.newWaits = []
        if let found = explanation.find(start, answers) {
            numbers = found
            return
        }
        start.missesNewWaits = true
        guard var found = explanation.find(start, answers) else {
            throw violation("no order explains numbers: \(real)", [])
        }
        found.missesNewWaits = false
        numbers = found
    }

    private mutating func explainPlaces(
        _ answers: [(PlaceOperation, PlaceAnswer)],
        _ closed: [UserID]
    ) async throws {
        let (rules, now) = (services.places.rules, now)
        let real = try await PlaceState.read(services.places.database, scope, model: PlaceState(), now)
        let explanation = Explanation<PlaceState, PlaceStep, PlaceAnswer>(
            perform: { $0.perform($1, rules, now) },
            isSame: { $0.isSame(as: $1, isAlone: answers.count == 1) },
            match: { state in
                var state = state
                for userID in closed { state.close(userID) }
                let bound = state.settled(now).bound(to: real)
                return bound.visible == real.visible ? bound : nil
            }
        )
        let wholes = answers.map { (PlaceStep.whole($0.0), $0.1) }
        // Others may have come between the parts of a closing: there are so many more orders that they are tried last.
        let parts = answers.flatMap { operation, answer in PlaceStep.parts(operation).map { ($0, answer) } }
        if let found = explanation.find(places, wholes) ?? explanation.find(places, parts) {
            places = found
            return
        }
        let outcomes = explanation.outcomes(places, wholes).map { state in
            var state = state
            for userID in closed { state.close(userID) }
            return PlaceDifference.between(state.settled(now).bound(to: real), real)
        }
        let least = outcomes.min { $0.count < $1.count } ?? []
        // What each would be answered if it were the first.
        let firsts = answers.map { answer in
            var state = places
            return "\(answer.0): \(state.perform(answer.0, rules, now))"
        }
        steps += ["the model:"] + firsts.map { "  \($0)" }
        throw violation("no order explains what is there", least)
    }

    /// What answers lead to.
    private mutating func follow(
        _ answers: [(PlaceOperation, PlaceAnswer)],
        _ numberAnswers: [(NumberOperation, NumberAnswer)]
    ) async throws {
        for (operation, answer) in answers {
            switch (operation, answer) {
            case (.apply(let events), .count):
                let ids = events.map(\.id)
                guard numbers.outbox.contains(where: { ids.contains($0.id ?? ids[0]) && $0.id != nil }) else {
                    continue
                }
                try await services.numbers.forget(ids)
                numbers.outbox.removeAll { event in event.id.map(ids.contains) ?? false }
                told.append(events)
            case (.hold(let userID, let absorption), .verdict(true)):
                dueNumbers.append(.closeIfEmpty(userID, absorption))
            default: break
            }
        }
        for case (.closeIfEmpty(let userID, let absorption), .verdict(let isEmpty)) in numberAnswers {
            duePlaces.append(isEmpty ? .close(userID) : .reopen(userID, absorption))
        }
    }

    func violation(_ text: String, _ differences: [PlaceDifference]) -> PlaceViolation {
        PlaceViolation(seed: seed, text: text, differences: differences, steps: steps)
    }
}
