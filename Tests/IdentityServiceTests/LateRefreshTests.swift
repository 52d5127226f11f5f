import API
import IdentityDomain
import RPC
import Testing

@testable import IdentityService

/// Calls that were held up somewhere while they were retried elsewhere, and arrive when nobody waits for them any more; and
/// callers that pretend to be such calls.
struct LateRefreshTests {
    /// Two refreshes in sequence are not concurrent ones.
    private static let limits = {
        var limits = SessionLimits()
        limits.refreshGraceSeconds = 1
        return limits
    }()

    private struct Rotated {
        var first: String
        var second: String
        var third: IdentityV1.RefreshResponse
        /// Before the first rotation.
        var presentedAt: Int64
    }

    /// A session that was refreshed twice, within four seconds.
    private func rotatedTwice(_ service: TestService, subject: String = "001.person") async throws -> Rotated {
        let first = try await service.signIn(subject: subject).tokens.refreshToken
        let presentedAt = service.clock.nowMilliseconds
        service.pass(seconds: 2)
        let second = try await service.refresh(first).tokens.refreshToken
        service.pass(seconds: 2)
        let third = try await service.refresh(second)
        return Rotated(first: first, second: second, third: third, presentedAt: presentedAt)
    }

    private func expectReuse(_ service: TestService, _ rotated: Rotated, _ body: () async throws -> Void) async {
        await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED", body)
        await expectFailure(.unauthenticated, "SESSION_REVOKED") {
            _ = try await service.refresh(rotated.third.tokens.refreshToken)
        }
    }

    @Test func `A late copy of an answered call does not end the session`() async throws {
        try await TestService.run(limits: Self.limits) { service in
            let rotated = try await rotatedTwice(service)
            service.pass(seconds: 10)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(rotated.first, presentedAtMilliseconds: rotated.presentedAt)
            }
            _ = try await service.check(rotated.third.tokens.accessToken)
            #expect(service.refreshes("late") == "1")
            #expect(service.refreshes("reused") == "0")
        }
    }

    /// The process was stopped: the clock continued, and its ticks did not.
    @Test func `After a pause the copies from before it are late`() async throws {
        try await TestService.run(limits: Self.limits) { service in
            let rotated = try await rotatedTwice(service)
            service.clock.advance(seconds: 100)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(rotated.first, presentedAtMilliseconds: rotated.presentedAt)
            }
            // Also shortly after the tick that ends the pause.
            service.parts.methods.pauses.tick(nowMilliseconds: service.clock.nowMilliseconds)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(rotated.first, presentedAtMilliseconds: rotated.presentedAt + 2_000)
            }
            _ = try await service.check(rotated.third.tokens.accessToken)
            #expect(service.refreshes("late") == "2")
            // The pause is over: a call this old has another cause now.
            service.pass(seconds: 6)
            await expectReuse(service, rotated) {
                _ = try await service.refresh(rotated.first, presentedAtMilliseconds: rotated.presentedAt)
            }
        }
    }

    @Test func `No pause is longer than the maximum`() async throws {
        try await TestService.run(limits: Self.limits) { service in
            let rotated = try await rotatedTwice(service)
            service.clock.advance(seconds: 601)
            await expectReuse(service, rotated) {
                _ = try await service.refresh(rotated.first, presentedAtMilliseconds: rotated.presentedAt)
            }
        }
    }

    /// After the last rotation, from the future, and from so long ago that the caller's clock must be wrong.
    @Test(arguments: [(-500, 1), (1_000_000, 1), (-900_000, 16), (-20_000, 16)] as [(Int64, Int64)])
    func `An impossible time is ignored`(offset: Int64, secondsLater: Int64) async throws {
        try await TestService.run(limits: Self.limits) { service in
            let rotated = try await rotatedTwice(service)
            service.pass(seconds: secondsLater)
            await expectReuse(service, rotated) {
                _ = try await service.refresh(
                    rotated.first,
                    presentedAtMilliseconds: service.clock.nowMilliseconds + offset
                )
            }
        }
    }

    @Test func `Only a gateway's times are used`() async throws {
        try await TestService.run(limits: Self.limits, gateways: .named(["spiffe://vestibule/gateway"])) { service in
            for (number, names) in [[], ["spiffe://vestibule/profile"], ["gateway"]].enumerated() {
                let rotated = try await rotatedTwice(service, subject: "\(number)")
                service.pass(seconds: 2)
                await expectReuse(service, rotated) {
                    _ = try await service.refresh(
                        rotated.first,
                        presentedAtMilliseconds: rotated.presentedAt,
                        certificateNames: names
                    )
                }
            }
            let rotated = try await rotatedTwice(service)
            service.pass(seconds: 2)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(
                    rotated.first,
                    presentedAtMilliseconds: rotated.presentedAt,
                    certificateNames: ["gateway", "spiffe://vestibule/gateway"]
                )
            }
            #expect(service.refreshes("late") == "1")
            #expect(service.refreshes("reused") == "3")
        }
    }

    @Test func `Without names, times are used from nobody or from everybody`() {
        #expect(!CallerTrust.nobody.believes(["spiffe://vestibule/gateway"]))
        #expect(CallerTrust.everybody.believes([]))
        #expect(!CallerTrust.named([]).believes([""]))
    }

    @Test func `Every verdict is counted`() async throws {
        try await TestService.run(limits: Self.limits) { service in
            let first = try await service.signIn().tokens.refreshToken
            let second = try await service.refresh(first).tokens.refreshToken
            _ = try await service.refresh(first)  // repeated
            service.pass(seconds: 2)
            _ = try await service.refresh(first)  // a sibling
            _ = try await service.refresh(second)  // rotated: the first one used
            _ = try await service.refresh(first)  // joined
            service.pass(seconds: 2)
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_REUSED") { _ = try await service.refresh(first) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.refresh(first) }
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") { _ = try await service.refresh("vrt1_") }
            #expect(service.refreshes("rotated") == "2")
            for outcome in ["repeated", "sibling", "joined", "reused", "revoked", "forged"] {
                #expect(service.refreshes(outcome) == "1", "\(outcome)")
            }
            for outcome in ["ahead", "late", "expired", "mismatched", "database_unavailable", "failed"] {
                #expect(service.refreshes(outcome) == "0", "\(outcome)")
            }
        }
    }
}

struct PauseWatchTests {
    @Test func `Regular ticks are no pause`() {
        let watch = PauseWatch(nowMilliseconds: 0)
        for now in stride(from: Int64(0), to: 60_000, by: 1_900) {
            watch.tick(nowMilliseconds: now)
            #expect(watch.pauseMilliseconds(nowMilliseconds: now + 1_999) == 0)
        }
    }

    @Test func `A pause is reported before and shortly after the tick that ends it`() {
        let watch = PauseWatch(nowMilliseconds: 0)
        #expect(watch.pauseMilliseconds(nowMilliseconds: 2_001) == 1_001)
        #expect(watch.pauseMilliseconds(nowMilliseconds: 61_000) == 60_000)
        watch.tick(nowMilliseconds: 61_000)
        #expect(watch.pauseMilliseconds(nowMilliseconds: 61_500) == 60_000)
        for now in stride(from: Int64(62_000), through: 65_000, by: 1_000) { watch.tick(nowMilliseconds: now) }
        #expect(watch.pauseMilliseconds(nowMilliseconds: 65_999) == 60_000)
        #expect(watch.pauseMilliseconds(nowMilliseconds: 66_000) == 0)
    }

    @Test func `A clock that is set back is no pause`() {
        let watch = PauseWatch(nowMilliseconds: 100_000)
        watch.tick(nowMilliseconds: 50_000)
        #expect(watch.pauseMilliseconds(nowMilliseconds: 50_500) == 0)
    }
}
