import InvitesDomain
import Models
import Testing

/// Repeatable numbers from a seed (SplitMix64).
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

struct PhoneLedgerTests {
    private let maria = UserID(high: 2, low: 1)
    private let jose = UserID(high: 2, low: 2)
    private let phone: PhoneNumber
    private let other: PhoneNumber

    init() throws {
        phone = try #require(PhoneNumber(stored: "639171234567"))
        other = try #require(PhoneNumber(stored: "639187654321"))
    }

    private func event(_ change: PhoneEvent.Change, _ phone: PhoneNumber) -> PhoneEvent {
        PhoneEvent(id: EventID(high: 0, low: 0), phone: phone, change: change)
    }

    @Test func `A claim sets an owner and links pending people`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: maria), phone)], owners: [:])
        #expect(ledger.changedOwners == [phone: maria])
        #expect(links(ledger) == [[.init(phone: phone, userID: maria)]])
        #expect(!ledger.hasLosses)
    }

    @Test func `A release leaves no owner, and puts members by the number in doubt`() {
        let ledger = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: UserID?.none])
        #expect(links(ledger) == [[]])
        #expect(losses(ledger) == [[.init(phone: phone, userID: maria)]])
    }

    @Test func `A release by deletion puts no member in doubt`() {
        let ledger = PhoneLedger(
            applying: [event(.released(by: maria, byDeletion: true), phone)],
            owners: [phone: maria]
        )
        #expect(ledger.changedOwners == [phone: UserID?.none])
        #expect(ledger.forgottenPhones == [phone])
        #expect(ledger.steps.isEmpty)
    }

    @Test func `A claim by proof takes the places of the number's former user`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: jose, takenFrom: maria), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: jose])
        #expect(losses(ledger) == [[.init(phone: phone, userID: maria, prover: jose)]])
        #expect(links(ledger) == [[.init(phone: phone, userID: jose)]])
    }

    @Test func `A third user who had the number loses it by a claim that takes it from another`() {
        let ana = UserID(high: 2, low: 3)
        let ledger = PhoneLedger(applying: [event(.claimed(by: jose, takenFrom: maria), phone)], owners: [phone: ana])
        #expect(
            losses(ledger) == [[.init(phone: phone, userID: ana), .init(phone: phone, userID: maria, prover: jose)]]
        )
    }

    @Test func `A claim of a number in use, whose release is lost, puts its former user's members in doubt`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: jose), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: jose])
        #expect(losses(ledger) == [[.init(phone: phone, userID: maria)]])
    }

    @Test func `Events of one number are separate steps, those of several numbers share one`() {
        let events = [
            event(.claimed(by: maria), phone), event(.claimed(by: jose), other), event(.released(by: maria), phone),
            event(.claimed(by: maria), phone),
        ]
        let ledger = PhoneLedger(applying: events, owners: [:])
        #expect(
            links(ledger) == [
                [.init(phone: phone, userID: maria), .init(phone: other, userID: jose)], [],
                [.init(phone: phone, userID: maria)],
            ]
        )
        #expect(losses(ledger) == [[], [.init(phone: phone, userID: maria)], []])
    }

    private func links(_ ledger: PhoneLedger) -> [[PhoneLedger.Link]] { ledger.steps.map(\.links) }
    private func losses(_ ledger: PhoneLedger) -> [[PhoneLedger.Loss]] { ledger.steps.map(\.losses) }

    @Test func `A release by a user who doesn't have the number changes nothing`() {
        let late = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [phone: jose])
        #expect(late.changedOwners.isEmpty && late.steps.isEmpty)
        let unknown = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [:])
        #expect(unknown.changedOwners.isEmpty && unknown.steps.isEmpty)
    }

    @Test func `A claim by the number's user still links pending people`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: maria), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners.isEmpty && !ledger.hasLosses)
        #expect(links(ledger) == [[.init(phone: phone, userID: maria)]])
    }

    @Test func `A proof lasts until the number is claimed again or given up`() {
        let proven = event(.claimed(by: maria, isProven: true), phone)
        func standing(_ events: PhoneEvent..., owners: [PhoneNumber: UserID] = [:]) -> PhoneLedger.Standing? {
            PhoneLedger(applying: events, owners: owners).standings[phone]
        }
        #expect(standing(proven) == .init(owner: maria, isProven: true))
        #expect(
            standing(proven, owners: [phone: maria]) == .init(owner: maria, isProven: true),
            "had it, proves it now"
        )
        #expect(standing(proven, event(.claimed(by: jose), phone)) == .init(owner: jose, isProven: false))
        #expect(standing(proven, event(.released(by: maria), phone)) == .init(owner: nil, isProven: false))
        #expect(standing(proven, event(.released(by: jose), phone)) == .init(owner: maria, isProven: true))
        #expect(
            standing(event(.released(by: jose), phone), owners: [phone: maria]) == nil,
            "nothing is said of the owner"
        )
    }

    @Test func `Of several claims each links the people pending then, and the last user has the number`() {
        let events = [
            event(.claimed(by: maria), phone), event(.released(by: maria), phone), event(.claimed(by: jose), phone),
        ]
        let ledger = PhoneLedger(applying: events, owners: [:])
        #expect(ledger.changedOwners == [phone: jose])
        #expect(
            links(ledger) == [[.init(phone: phone, userID: maria)], [], [.init(phone: phone, userID: jose)]]
        )
    }

    @Test func `A user may move to another number`() {
        let events = [event(.released(by: maria), phone), event(.claimed(by: maria), other)]
        let ledger = PhoneLedger(applying: events, owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: UserID?.none, other: maria])
        #expect(links(ledger) == [[.init(phone: other, userID: maria)]])
        #expect(losses(ledger) == [[.init(phone: phone, userID: maria)]])
    }

    @Test(arguments: 0..<200)
    func `A batch in any parts has the effect of the whole`(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let users = [maria, jose, UserID(high: 2, low: 3)]
        let events = (0..<12).map { _ in
            let user = users.randomElement(using: &generator) ?? maria
            let number = Bool.random(using: &generator) ? phone : other
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: return event(.released(by: user), number)
            case 1: return event(.released(by: user, byDeletion: true), number)
            case 2: return event(.claimed(by: user, takenFrom: users.randomElement(using: &generator)), number)
            default: return event(.claimed(by: user, isProven: Bool.random(using: &generator)), number)
            }
        }
        // The effects on the members of each number, in order: the steps of other numbers don't matter.
        var standings: [PhoneNumber: PhoneLedger.Standing] = [:]
        func apply(_ events: some Sequence<PhoneEvent>, to owners: inout [PhoneNumber: UserID]) -> [PhoneNumber:
            [String]]
        {
            let ledger = PhoneLedger(applying: Array(events), owners: owners)
            standings.merge(ledger.standings) { _, new in new }
            for (phone, owner) in ledger.changedOwners { owners[phone] = owner }
            var effects: [PhoneNumber: [String]] = [:]
            for step in ledger.steps {
                for loss in step.losses { effects[loss.phone, default: []].append("\(loss)") }
                for link in step.links { effects[link.phone, default: []].append("\(link)") }
                #expect(Set(step.links.map(\.phone)).count == step.links.count, "a number has one claim in a step")
            }
            return effects
        }
        var whole: [PhoneNumber: UserID] = [phone: maria]
        let effects = apply(events, to: &whole)
        let proofs = standings
        for cut in 0...events.count {
            standings = [:]
            var parts: [PhoneNumber: UserID] = [phone: maria]
            let before = apply(events[..<cut], to: &parts)
            let after = apply(events[cut...], to: &parts)
            #expect(parts == whole, "seed \(seed), cut at \(cut)")
            #expect(standings == proofs, "seed \(seed), cut at \(cut)")
            #expect(before.merging(after, uniquingKeysWith: +) == effects, "seed \(seed), cut at \(cut)")
        }
    }
}
