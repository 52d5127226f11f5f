import Logging
import Testing

@testable import ServiceStore

struct TimelineChangeTests {
    private func change(wasConfirmed: Bool) -> TimelineChange {
        TimelineChange(
            former: 1,
            timeline: 2,
            wasConfirmed: wasConfirmed,
            lastSeenMilliseconds: 1_795_000_000_000,
            noticedMilliseconds: 1_795_000_007_001
        )
    }

    @Test
    func `After an unconfirmed promotion the log names what may be lost, and a command that ends what began before`() {
        let change = change(wasConfirmed: false)
        #expect(change.level == .error)
        #expect(change.metadata["former_seen"] == "2026-11-18T11:06:40Z")
        #expect("\(change.metadata["lost"] ?? "")".contains("used refresh and provider tokens"))
        #expect(change.metadata["command"] == "vestibule sessions end --before 2026-11-18T11:06:48Z --confirm")
    }

    @Test func `After a promotion of a standby that confirmed each commit nothing has to be done`() {
        let change = change(wasConfirmed: true)
        #expect(change.level == .warning)
        #expect("\(change.metadata["lost"] ?? "")".hasPrefix("nothing, if"))
        #expect(change.metadata["command"] == nil)
        #expect(change.metadata["otherwise"] == "vestibule sessions end --before 2026-11-18T11:06:48Z --confirm")
    }
}
