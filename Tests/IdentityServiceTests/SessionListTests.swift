import API
import IdentityDomain
import JOSE
import Models
import Postgres
import RPC
import SwiftProtobuf
import Testing

@testable import IdentityService

struct SessionListTests {
    @Test func `The sessions of an account are listed, the one used last first`() async throws {
        try await TestService.run { service in
            let first = try await service.signIn(deviceName: "Blue phone", changes: ["jti": "1"]).tokens
            let begun = service.clock.nowMilliseconds
            service.pass(seconds: 10)
            let second = try await service.signIn(changes: ["jti": "2"]).tokens
            service.pass(seconds: 10)
            let single = try await service.signInSingle()
            _ = try await service.signInAnew(subject: "002.person")
            service.pass(seconds: 10)
            let refreshed = try await service.refresh(first.refreshToken).tokens

            let sessions = try await service.sessions(refreshed.accessToken)
            #expect(sessions.map(\.sessionID) == [first.sessionID, single.sessionID, second.sessionID])
            #expect(
                sessions[0]
                    == .with {
                        ($0.sessionID, $0.deviceName, $0.provider) = (first.sessionID, "Blue phone", "apple")
                        ($0.createdAtMs, $0.lastUsedAtMs, $0.isCurrent) = (begun, begun + 30_000, true)
                    }
            )
            #expect(sessions.map(\.isCurrent) == [true, false, false])
            #expect(sessions[1].deviceName.isEmpty)
            // Also for a single token.
            let bySingle = try await service.sessions(single.singleToken)
            #expect(bySingle.map(\.sessionID) == sessions.map(\.sessionID))
            #expect(bySingle.map(\.isCurrent) == [false, true, false])
        }
    }

    @Test func `Expired and ended sessions are not listed`() async throws {
        var limits = SessionLimits()
        limits.absoluteSeconds = 7_200
        limits.inactivitySeconds = 3_600
        try await TestService.run(limits: limits) { service in
            _ = try await service.signInAnew()
            let signedOut = try await service.signInAnew()
            try await service.signOut(accessToken: signedOut.accessToken)
            service.clock.advance(seconds: 3_000)
            let used = try await service.signInAnew()
            #expect(try await service.sessions(used.accessToken).count == 2)
            // First one and then another reaches the inactivity limit.
            for seconds in [600, 3_500] as [Int64] {
                service.clock.advance(seconds: seconds)
                let current = try await service.signInAnew()
                let ids = try await service.sessions(current.accessToken).map(\.sessionID)
                #expect(ids.first == current.sessionID)
                #expect(ids.count == 2)
            }
            service.clock.advance(seconds: 1)
            try await service.endAllSessions()
            let last = try await service.signInAnew()
            #expect(try await service.sessions(last.accessToken).map(\.sessionID) == [last.sessionID])
        }
    }

    @Test func `A token that CheckSession rejects is rejected`() async throws {
        try await TestService.run { service in
            let tokens = try await service.signInAnew()
            let unproven = try await service.signInSingle()
            try await service.setProof("unproven", dialect: "wordpress", of: unproven)
            let calls: [(String) async throws -> Void] = [
                { _ = try await service.sessions($0) },
                { _ = try await service.rename(tokens.sessionID, to: "Phone", accessToken: $0) },
                { try await service.end(tokens.sessionID, accessToken: $0) },
            ]
            for call in calls {
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { try await call("nonsense") }
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { try await call(tokens.refreshToken) }
                // A session without proof: neither another's nor its own.
                await expectFailure(.unauthenticated, "SESSION_UNPROVEN") { try await call(unproven.singleToken) }
            }
            await expectFailure(.unauthenticated, "SESSION_UNPROVEN") {
                try await service.end(unproven.sessionID, accessToken: unproven.singleToken)
            }
            #expect(try await service.revokeReasons() == [])
            // The account's proven session lists it and ends it.
            #expect(try await service.sessions(tokens.accessToken).count == 2)
            try await service.end(unproven.sessionID, accessToken: tokens.accessToken)
            try await service.signOut(accessToken: tokens.accessToken)
            for call in calls {
                await expectFailure(.unauthenticated, "SESSION_REVOKED") { try await call(tokens.accessToken) }
            }
            service.clock.advance(seconds: 601)
            for call in calls {
                await expectFailure(.unauthenticated, "ACCESS_TOKEN_EXPIRED") { try await call(tokens.accessToken) }
            }
        }
    }

    @Test func `A session can be renamed`() async throws {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let second = try await service.signInAnew()
            let renamed = try await service.rename(
                second.sessionID,
                to: "  Kitchen tablet ",
                accessToken: first.accessToken
            )
            #expect(renamed.deviceName == "Kitchen tablet")
            #expect(renamed.sessionID == second.sessionID && !renamed.isCurrent)
            #expect(try await service.rename(first.sessionID, to: "Phone", accessToken: first.accessToken).isCurrent)
            let names = try await service.sessions(second.accessToken).map { [$0.sessionID: $0.deviceName] }
            #expect(names.contains([second.sessionID: "Kitchen tablet"]) && names.contains([first.sessionID: "Phone"]))
            // Renaming is not a use of the session.
            #expect(try await service.lastUsedAtMilliseconds(of: second) == service.clock.nowMilliseconds)
            for name in ["", " ", "a", String(repeating: "a", count: 51), "a\nb"] {
                await expectFailure(.invalidArgument, "DEVICE_NAME_INVALID") {
                    _ = try await service.rename(first.sessionID, to: name, accessToken: first.accessToken)
                }
            }
            try await service.end(second.sessionID, accessToken: first.accessToken)
            await expectFailure(.notFound, "SESSION_NOT_FOUND") {
                _ = try await service.rename(second.sessionID, to: "Other", accessToken: first.accessToken)
            }
        }
    }

    @Test func `A session can be ended, once or twice, also the caller's own`() async throws {
        try await TestService.run { service in
            let first = try await service.signInAnew()
            let second = try await service.signInAnew()
            for _ in 0..<2 { try await service.end(second.sessionID.uppercased(), accessToken: first.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(second.accessToken) }
            await expectFailure(.unauthenticated, "SESSION_REVOKED") {
                _ = try await service.refresh(second.refreshToken)
            }
            #expect(try await service.revokeReasons() == ["ended"])
            #expect(try await service.sessions(first.accessToken).map(\.sessionID) == [first.sessionID])
            try await service.end(first.sessionID, accessToken: first.accessToken)
            await expectFailure(.unauthenticated, "SESSION_REVOKED") { _ = try await service.check(first.accessToken) }
        }
    }

    @Test func `Another account's session is like one that never existed`() async throws {
        try await TestService.run { service in
            let mine = try await service.signInAnew()
            let theirs = try await service.signInAnew(subject: "002.person")
            for id in [theirs.sessionID, "0190163d-8694-739b-aea5-966c26f8ad91", "", "x", "../sessions"] {
                await expectFailure(.notFound, "SESSION_NOT_FOUND") {
                    try await service.end(id, accessToken: mine.accessToken)
                }
                await expectFailure(.notFound, "SESSION_NOT_FOUND") {
                    _ = try await service.rename(id, to: "Mine now", accessToken: mine.accessToken)
                }
            }
            #expect(try await service.sessions(theirs.accessToken).map(\.deviceName) == [""])
            _ = try await service.refresh(theirs.refreshToken)
            #expect(try await service.revokeReasons() == [])
        }
    }

    /// A page is read by one statement, before or after each end, and never contains a session that ended before the request.
    @Test func `A session that ended before the request is not listed, whatever ends meanwhile`() async throws {
        try await TestService.run { service in
            for _ in 0..<3 {
                let owner = try await service.signInAnew()
                var others: [String] = []
                for _ in 0..<8 { others.append(try await service.signInAnew().sessionID) }
                let ids = others
                try await withThrowingTaskGroup(of: Void.self) { tasks in
                    for half in [ids.prefix(4), ids.suffix(4)] {
                        tasks.addTask {
                            for (index, id) in half.enumerated() {
                                try await service.end(id, accessToken: owner.accessToken)
                                let listed = Set(try await service.sessions(owner.accessToken).map(\.sessionID))
                                #expect(listed.isDisjoint(with: half.prefix(index + 1)))
                                #expect(listed.isSuperset(of: half.dropFirst(index + 1)))
                                #expect(listed.contains(owner.sessionID))
                            }
                        }
                    }
                    // Ending a session that another call is ending also succeeds, and renaming it finds it or not.
                    tasks.addTask {
                        for id in ids.reversed() {
                            do {
                                _ = try await service.rename(id, to: "Old phone", accessToken: owner.accessToken)
                            } catch let error as RPCError where error.reason == "SESSION_NOT_FOUND" {}
                        }
                    }
                    try await tasks.waitForAll()
                }
                #expect(try await service.sessions(owner.accessToken).map(\.sessionID) == [owner.sessionID])
                try await service.signOut(accessToken: owner.accessToken)
            }
        }
    }
}
