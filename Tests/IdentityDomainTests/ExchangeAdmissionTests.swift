import IdentityDomain
import Testing

struct ExchangeAdmissionTests {
    private static let now: Int64 = 1_800_000_000_000

    @Test func `So many questions are under way and no more`() {
        var admission = ExchangeAdmission()
        for _ in 0..<ExchangeAdmission.concurrentByClientMax {
            #expect(admission.admit(client: "a", address: nil, nowMilliseconds: Self.now) == .admitted)
        }
        #expect(admission.admit(client: "a", address: nil, nowMilliseconds: Self.now) == .busy)
        let left = ExchangeAdmission.concurrentMax - ExchangeAdmission.concurrentByClientMax
        for _ in 0..<left {
            #expect(admission.admit(client: "b", address: nil, nowMilliseconds: Self.now) == .admitted)
        }
        #expect(admission.admit(client: "b", address: nil, nowMilliseconds: Self.now) == .busy)
        admission.ended(client: "b", address: nil, wasRefused: false, nowMilliseconds: Self.now)
        #expect(admission.admit(client: "a", address: nil, nowMilliseconds: Self.now) == .busy)
        #expect(admission.admit(client: "b", address: nil, nowMilliseconds: Self.now) == .admitted)
    }

    @Test func `One address leaves room for others`() {
        var admission = ExchangeAdmission()
        for _ in 0..<ExchangeAdmission.concurrentByAddressMax {
            #expect(admission.admit(client: "a", address: [1], nowMilliseconds: Self.now) == .admitted)
        }
        #expect(admission.admit(client: "a", address: [1], nowMilliseconds: Self.now) == .busy)
        #expect(admission.admit(client: "a", address: [2], nowMilliseconds: Self.now) == .admitted)
        admission.ended(client: "a", address: [1], wasRefused: false, nowMilliseconds: Self.now)
        #expect(admission.admit(client: "a", address: [1], nowMilliseconds: Self.now) == .admitted)
    }

    @Test func `An address with too many refusals waits for the end of its window, for any client`() {
        var admission = ExchangeAdmission()
        for _ in 0..<ExchangeAdmission.refusalsByAddressMax { Self.refuse(&admission, "a", [1], Self.now) }
        let later = Self.now + 20_000
        let wait = ExchangeAdmission.Verdict.tooManyRefused(retryAfterMilliseconds: 40_000)
        #expect(admission.admit(client: "a", address: [1], nowMilliseconds: later) == wait)
        #expect(admission.admit(client: "b", address: [1], nowMilliseconds: later) == wait)
        #expect(admission.admit(client: "a", address: [2], nowMilliseconds: later) == .admitted)
        #expect(admission.admit(client: "a", address: nil, nowMilliseconds: later) == .admitted)
        let over = Self.now + ExchangeAdmission.windowMilliseconds
        #expect(admission.admit(client: "a", address: [1], nowMilliseconds: over) == .admitted)
    }

    @Test func `While many addresses guess, those get in who have had no refusal`() {
        var admission = ExchangeAdmission()
        for index in 0..<ExchangeAdmission.refusalsByClientMax {
            Self.refuse(&admission, "a", [1, UInt8(index)], Self.now)
        }
        let wait = ExchangeAdmission.Verdict.tooManyRefused(retryAfterMilliseconds: 60_000)
        #expect(admission.admit(client: "a", address: [1, 1], nowMilliseconds: Self.now) == wait)
        #expect(admission.admit(client: "a", address: nil, nowMilliseconds: Self.now) == wait)
        #expect(admission.admit(client: "a", address: [2], nowMilliseconds: Self.now) == .admitted)
        #expect(admission.admit(client: "b", address: [1, 1], nowMilliseconds: Self.now) == .admitted)
    }

    @Test func `A clock that is set back locks nobody out`() {
        var admission = ExchangeAdmission()
        for _ in 0..<ExchangeAdmission.refusalsByAddressMax { Self.refuse(&admission, "a", [1], Self.now) }
        #expect(admission.admit(client: "a", address: [1], nowMilliseconds: Self.now - 1) == .admitted)
    }

    @Test func `More addresses than are remembered begin anew, after those whose window is over`() {
        var admission = ExchangeAdmission()
        func fill(_ byte: UInt8, _ count: Int, _ now: Int64) {
            for index in 0..<count {
                Self.refuse(&admission, "a\(byte)", [byte, UInt8(index >> 8), UInt8(index & 255)], now)
            }
        }
        fill(1, ExchangeAdmission.addressesMax - 1, Self.now)
        let late = Self.now + ExchangeAdmission.windowMilliseconds
        for _ in 0..<ExchangeAdmission.refusalsByAddressMax { Self.refuse(&admission, "b", [9], late) }
        // The first window's are dropped, [9] isn't.
        fill(2, 10, late)
        let wait = ExchangeAdmission.Verdict.tooManyRefused(retryAfterMilliseconds: 60_000)
        #expect(admission.admit(client: "b", address: [9], nowMilliseconds: late) == wait)
        fill(3, ExchangeAdmission.addressesMax, late)
        #expect(admission.admit(client: "b", address: [9], nowMilliseconds: late) == .admitted)
    }

    private static func refuse(_ admission: inout ExchangeAdmission, _ client: String, _ address: [UInt8], _ now: Int64)
    {
        guard admission.admit(client: client, address: address, nowMilliseconds: now) == .admitted else { return }
        admission.ended(client: client, address: address, wasRefused: true, nowMilliseconds: now)
    }
}
