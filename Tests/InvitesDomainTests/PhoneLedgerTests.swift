import InvitesDomain
import Models
import Testing

/// Numbers that repeat from a seed (SplitMix64).
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

    @Test func `A claim makes an owner and links who waits`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: maria), phone)], owners: [:])
        #expect(ledger.changedOwners == [phone: maria])
        #expect(ledger.links == [.init(phone: phone, userID: maria)])
    }

    @Test func `A release leaves nobody`() {
        let ledger = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: UserID?.none])
        #expect(ledger.links.isEmpty)
    }

    @Test func `A release by one who doesn't have the number changes nothing`() {
        let late = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [phone: jose])
        #expect(late.changedOwners.isEmpty)
        let unknown = PhoneLedger(applying: [event(.released(by: maria), phone)], owners: [:])
        #expect(unknown.changedOwners.isEmpty)
    }

    @Test func `A claim by the one who has the number still links who waits`() {
        let ledger = PhoneLedger(applying: [event(.claimed(by: maria), phone)], owners: [phone: maria])
        #expect(ledger.changedOwners.isEmpty)
        #expect(ledger.links == [.init(phone: phone, userID: maria)])
    }

    @Test func `Of several claims the first takes those who wait and the last has the number`() {
        let events = [
            event(.claimed(by: maria), phone), event(.released(by: maria), phone), event(.claimed(by: jose), phone),
        ]
        let ledger = PhoneLedger(applying: events, owners: [:])
        #expect(ledger.changedOwners == [phone: jose])
        #expect(ledger.links == [.init(phone: phone, userID: maria)])
    }

    @Test func `A user may move to another number`() {
        let events = [event(.released(by: maria), phone), event(.claimed(by: maria), other)]
        let ledger = PhoneLedger(applying: events, owners: [phone: maria])
        #expect(ledger.changedOwners == [phone: UserID?.none, other: maria])
        #expect(ledger.links == [.init(phone: other, userID: maria)])
    }

    @Test(arguments: 0..<200)
    func `A batch cut anywhere has the effect of the whole`(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let users = [maria, jose, UserID(high: 2, low: 3)]
        let events = (0..<12).map { _ in
            let user = users.randomElement(using: &generator) ?? maria
            let number = Bool.random(using: &generator) ? phone : other
            return event(Bool.random(using: &generator) ? .claimed(by: user) : .released(by: user), number)
        }
        func apply(_ events: some Sequence<PhoneEvent>, to owners: inout [PhoneNumber: UserID]) -> [PhoneLedger.Link] {
            let ledger = PhoneLedger(applying: Array(events), owners: owners)
            for (phone, owner) in ledger.changedOwners { owners[phone] = owner }
            return ledger.links
        }
        var whole: [PhoneNumber: UserID] = [phone: maria]
        let links = apply(events, to: &whole)
        for cut in 0...events.count {
            var parts: [PhoneNumber: UserID] = [phone: maria]
            let before = apply(events[..<cut], to: &parts)
            let after = apply(events[cut...], to: &parts)
            #expect(parts == whole, "seed \(seed), cut at \(cut)")
            // Whoever links a number first in the parts is who links it in the whole.
            let seen = Set(before.map(\.phone))
            #expect(before + after.filter { !seen.contains($0.phone) } == links, "seed \(seed), cut at \(cut)")
        }
    }
}
