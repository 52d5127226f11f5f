import Models
import Testing

/// Counts up, so that each draw is known.
private struct CountingGenerator: RandomNumberGenerator {
    var value: UInt64 = 0
    mutating func next() -> UInt64 {
        value &+= 1
        return value
    }
}

private struct OnesGenerator: RandomNumberGenerator {
    mutating func next() -> UInt64 { .max }
}

struct IdentifierTests {
    @Test func `An id is read from the text it is written as`() throws {
        let text = "0190163d-8694-739b-aea5-966c26f8ad91"
        let id = try #require(UserID(text))
        #expect(id.description == text)
        #expect(id.high == 0x0190_163D_8694_739B)
        #expect(id.low == 0xAEA5_966C_26F8_AD91)
        #expect(UserID("0190163D-8694-739B-AEA5-966C26F8AD91") == id)
    }

    @Test(arguments: [
        "", "-", "0190163d-8694-739b-aea5-966c26f8ad9", "0190163d-8694-739b-aea5-966c26f8ad911",
        "0190163d8694739baea5966c26f8ad91", "0190163d-8694-739b-aea5-966c26f8ad9g",
        "{0190163d-8694-739b-aea5-966c26f8ad91}", "0190163d-8694-739baaea5-966c26f8ad91",
        " 190163d-8694-739b-aea5-966c26f8ad91", "０190163d-8694-739b-aea5-966c26f8ad91",
        "0190163d-8694-739b-aea5-966c26f8ad91\n", "-190163d-8694-739b-aea5-966c26f8ad91",
    ])
    func `Anything else is no id`(text: String) {
        #expect(GroupID(text) == nil)
    }

    @Test func `A text cut anywhere is no id`() {
        let text = "0190163d-8694-739b-aea5-966c26f8ad91"
        for length in 0..<text.count {
            #expect(MemberID(String(text.prefix(length))) == nil)
        }
    }

    @Test func `Bytes go there and back`() throws {
        let id = try #require(EventID("00112233-4455-7677-8899-aabbccddeeff"))
        #expect(
            id.bytes == [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x76, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD, 0xEE, 0xFF]
        )
        #expect(EventID(bytes: id.bytes) == id)
        #expect(EventID(bytes: id.bytes.dropLast()) == nil)
        #expect(EventID(bytes: id.bytes + [0]) == nil)
    }

    @Test func `A made id has its time, version 7 and the variant of RFC 9562`() {
        var ones = OnesGenerator()
        let most = SessionID.make(milliseconds: 0x0190_163D_8694, random: &ones)
        #expect(most.description == "0190163d-8694-7fff-bfff-ffffffffffff")
        var counting = CountingGenerator()
        let least = SessionID.make(milliseconds: 0, random: &counting)
        #expect(least.description == "00000000-0000-7001-8000-000000000002")
    }

    @Test func `Ids sort by the time they were made`() {
        var generator = SystemRandomNumberGenerator()
        let ids = (0..<100).map { UserID.make(milliseconds: 1_700_000_000_000 + $0, random: &generator) }
        #expect(ids.shuffled().sorted() == ids)
        #expect(ids.map(\.description) == ids.map(\.description).sorted())
    }

    @Test func `A source draws from its own clock and bits`() {
        let source = IdentifierSource(clock: WallClock { 0x0123_4567_89AB }, randomBits: { 0 })
        #expect(source.make(GroupID.self).description == "01234567-89ab-7000-8000-000000000000")
        let real = IdentifierSource(clock: WallClock { 1_700_000_000_000 })
        #expect(Set((0..<1_000).map { _ in real.make(UserID.self) }).count == 1_000)
    }

    @Test func `The machine's clock tells Unix milliseconds`() {
        let now = WallClock.system.nowMilliseconds
        // Between 2025 and 2100: seconds or microseconds would be far outside.
        #expect((1_735_689_600_000..<4_102_444_800_000).contains(now))
        #expect(WallClock.system.nowMilliseconds >= now)
    }
}
