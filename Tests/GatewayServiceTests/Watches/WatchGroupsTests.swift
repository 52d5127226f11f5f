import API
import HTTPTypes
import JOSE
import Logging
import RPC
import ServiceKit
import SwiftProtobuf
import Synchronization
import TestWaits
import Testing

@testable import GatewayService

/// `GET /me/events` and `GroupService/WatchGroups`: what apps receive, and how a stream ends.
@Suite(.timeLimit(.minutes(5)))
struct WatchGroupsTests {
    private static func end(_ code: String) -> String { #"event: end\#ndata: {"code":"\#(code)","# }

    @Test func `Changes are events with positions, and a gateway that stops asks apps to reconnect`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            let id = stage.begun[0].id
            #expect(stage.begun[0].begin.callerProof == StubServices.proofs.invites)
            #expect(stage.begun[0].begin.position.isEmpty)
            stage.reset(position: 2)
            stage.change(.memberChanged, position: 3, to: [99])
            stage.change(.groupJoined, position: 4, to: [id, 99])
            let metrics = MetricsRegistry()
            metrics.add(stage.watches)
            try await eventually { metrics.text.contains("vestibule_gateway_watch_changes_total 1\n") }
            stage.watches.stop()
            let (status, text) = try await watching
            #expect(status == 200)
            #expect(text.hasPrefix("event: begin\nid: \(WatchStage.sealed(1))\ndata: {}\n\n"))
            // Together or in sequence: after a reset earlier changes aren't needed.
            let after = text.split(separator: "event: reset\n").last ?? ""
            let change = #"{"changes":[{"type":"group.joined","group_id":"g","member_id":"m"}]}"#
            let apart = "data: {}\n\nevent: changes\nid: \(WatchStage.sealed(4))\ndata: \(change)\n\nevent: end\n"
            #expect(after.contains(apart) || after.hasPrefix("id: \(WatchStage.sealed(4))\ndata: {}\n\nevent: end\n"))
            #expect(text.contains(Self.end("COME_AGAIN")) && text.hasSuffix("}\n\n"))
            #expect(try await stage.gateway.sendAsUser(.get, "/me/events").code == "COME_AGAIN")
        }
    }

    @Test func `Missed changes come after the beginning, and the position is passed on`() async throws {
        try await WatchStage.run { stage in
            stage.first.withLock { first in
                first.changes = [
                    .with {
                        $0.kind = .groupLeft
                        $0.groupID = "g"
                    }, .with { $0.kind = .invitationChanged },
                ]
            }
            async let watching = stage.watch(after: "AAEC")
            try await eventually { stage.begun.count == 1 }
            #expect(stage.begun[0].begin.position == .init([0, 1, 2]))
            try await eventually { stage.watches.count == 1 }
            try await Task.sleep(for: .milliseconds(20))
            stage.watches.endAll(.comeAgain)
            let text = try await watching.text
            let changes = #"{"changes":[{"type":"group.left","group_id":"g"},{"type":"invitation.changed"}]}"#
            #expect(
                text.hasPrefix(
                    "event: begin\ndata: {}\n\nevent: changes\nid: \(WatchStage.sealed(1))\n"
                        + "data: \(changes)\n\nevent: end\n"
                )
            )
        }
    }

    @Test func `An answer of invites without a key for positions is rejected`() async throws {
        try await WatchStage.run { stage in
            stage.first.withLock { $0.positionKey = .init([]) }
            let text = try await stage.watch().text
            #expect(text.contains("COME_AGAIN") && !text.contains("id: "))
        }
    }

    @Test func `An app gets a position that is sealed for its account`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            stage.change(.groupJoined, position: 4, to: [stage.begun[0].id])
            let metrics = MetricsRegistry()
            metrics.add(stage.watches)
            try await eventually { metrics.text.contains("vestibule_gateway_watch_changes_total 1\n") }
            stage.watches.stop()
            let text = try await watching.text
            #expect(text.contains("\nid: \(WatchStage.sealed(1))\n"))
            #expect(text.contains("\nid: \(WatchStage.sealed(4))\n"))
        }
    }

    @Test(arguments: ["*", String(repeating: "A", count: 2_000)])
    func `A position that can't be decrypted is sent to invites as an unknown one`(position: String) async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch(after: position)
            try await eventually { stage.begun.count == 1 }
            #expect(stage.begun[0].begin.position == .init([0]))
            stage.watches.stop()
            _ = try await watching
        }
    }

    @Test func `The end of the session ends the stream`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            stage.end(["another", WatchStage.sessionID])
            let text = try await watching.text
            #expect(text.contains(Self.end("SESSION_REVOKED")))
            // Also for a request whose token was checked before the end arrived.
            let late = try await stage.gateway.sendAsUser(.get, "/me/events")
            #expect(late.status == 401 && late.code == "SESSION_REVOKED")
        }
    }

    @Test func `An account's change is sent to its other sessions, and to nobody else`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            stage.change(.groupJoined, position: 4, to: [stage.begun[0].id])
            let metrics = MetricsRegistry()
            metrics.add(stage.watches)
            try await eventually { metrics.text.contains("vestibule_gateway_watch_changes_total 1\n") }
            stage.watches.notify([
                WatchStage.accountChange("another", by: "x"),
                WatchStage.accountChange(StubServices.userID, by: WatchStage.sessionID),
                WatchStage.accountChange(StubServices.userID, by: "the thief's"),
            ])
            stage.watches.stop()
            let text = try await watching.text
            let told =
                #"event: account_changed\#ndata: "#
                + #"{"kind":"provider_linked","provider":"google","occurred_at":"2027-01-15T08:00:00.000Z"}\#n\#n"#
            #expect(text.contains(told))
            #expect(text.split(separator: "event: account_changed").count == 2)
        }
    }

    @Test func `By RPC the account's changes are sent as identity sends them`() async throws {
        try await WatchStage.run { stage in
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let router = try stage.gateway.gateway.router(timeLimit: .seconds(60), logger: logger)
            let client = GroupServiceClient(InProcessChannel(router))
            var options = CallOptions()
            options.metadata.add("authorization", "Bearer \(StubServices.accessToken)")
            let told = Mutex<[AppV1.WatchGroupsResponse]>([])
            let error = await #expect(throws: RPCError.self) {
                try await client.watchGroups(.init(), options: options) { messages in
                    for try await message in messages {
                        let count = told.withLock { told in
                            told.append(message)
                            return told.count
                        }
                        if count == 1 {
                            stage.change(WatchStage.accountChange(StubServices.userID, by: WatchStage.sessionID))
                            stage.change(WatchStage.accountChange(StubServices.userID, by: "the thief's"))
                        }
                        if count == 2 { stage.end([WatchStage.sessionID]) }
                    }
                }
            }
            #expect(error?.reason == "SESSION_REVOKED")
            let messages = told.withLock { $0 }
            #expect(messages.map(\.position) == [WatchStage.sealed(1), WatchStage.sealed(1)])
            #expect(messages.last?.accountChanges.map(\.sessionID) == ["the thief's"])
            #expect(messages.last?.accountChanges.map(\.kind) == ["provider_linked"])
        }
    }

    @Test func `The end of all sessions makes all apps reconnect`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            stage.end([], sessionsFrom: 1_000)
            stage.end([], sessionsFrom: 2_000)
            #expect(try await watching.text.contains(Self.end("COME_AGAIN")))
        }
    }

    @Test func `If ends of sessions are unknown, all streams end soon`() async throws {
        var limits = WatchStage.quick
        limits.endsUnknownMax = .seconds(3)
        try await WatchStage.run(limits) { stage in
            let text = try await stage.watch().text
            #expect(text.contains(Self.end("COME_AGAIN")))
        }
    }

    @Test func `The end of the token ends the stream`() async throws {
        try await WatchStage.run { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            try await Task.sleep(for: .milliseconds(500))
            stage.expireTokens()
            let text = try await watching.text
            #expect(text.contains(Self.end("ACCESS_TOKEN_EXPIRED")))
        }
    }

    @Test func `A quiet stream sends comments`() async throws {
        var limits = WatchStage.quick
        limits.heartbeat = .milliseconds(10)
        try await WatchStage.run(limits) { stage in
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            try await Task.sleep(for: .seconds(2))
            stage.watches.stop()
            #expect(try await watching.text.contains("\n\n:\n\n:\n\n"))
        }
    }

    @Test func `An account's streams are limited, and one more is allowed after another ended`() async throws {
        var limits = WatchStage.quick
        limits.perAccountMax = 2
        try await WatchStage.run(limits) { stage in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<2 { group.addTask { _ = try await stage.watch() } }
                try await eventually { stage.begun.count == 2 }
                let refused = try await stage.gateway.sendAsUser(.get, "/me/events")
                #expect(refused.status == 429 && refused.code == "TOO_MANY_WATCHES")
                stage.watches.endAll(.comeAgain)
                try await group.waitForAll()
            }
            try await eventually { stage.watches.count == 0 }
            async let again = stage.watch()
            try await eventually { stage.begun.count == 3 }
            #expect(stage.ended.isEmpty || Set(stage.ended).isSubset(of: Set(stage.begun.map(\.id))))
            stage.watches.stop()
            _ = try await again
        }
    }

    @Test func `If invites is down or lost an app reconnects, and succeeds once it is back`() async throws {
        try await WatchStage.run { stage in
            stage.accepts(false)
            let away = try await stage.gateway.sendAsUser(.get, "/me/events")
            #expect(away.status == 503 && away.code == "COME_AGAIN")
            stage.accepts(true)
            async let watching = stage.watch()
            try await eventually { stage.begun.count == 1 }
            stage.loseStream()
            #expect(try await watching.text.contains(Self.end("COME_AGAIN")))
            // On a busy machine the app reconnects before the gateway has its stream again, and must retry.
            let again = Task {
                while !Task.isCancelled, try await stage.watch().status != 200 {}
            }
            try await eventually { stage.begun.count == 2 && stage.streams == 2 }
            stage.watches.stop()
            // The watch that began may be refused by a gateway that stops, and then so is every further one.
            again.cancel()
            _ = await again.result
        }
    }

    @Test func `Watching needs a token`() async throws {
        try await WatchStage.run { stage in
            let answer = try await stage.gateway.send(.get, "/me/events")
            #expect(answer.status == 401 && answer.code == "AUTHENTICATION_REQUIRED")
        }
    }

    @Test func `An RPC gets the same events`() async throws {
        try await WatchStage.run { stage in
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let router = try stage.gateway.gateway.router(timeLimit: .seconds(60), logger: logger)
            let client = GroupServiceClient(InProcessChannel(router))
            var options = CallOptions()
            options.metadata.add("authorization", "Bearer \(StubServices.accessToken)")
            let told = Mutex<[AppV1.WatchGroupsResponse]>([])
            let error = await #expect(throws: RPCError.self) {
                try await client.watchGroups(.with { $0.position = "AAEC" }, options: options) { messages in
                    for try await message in messages {
                        let count = told.withLock { told in
                            told.append(message)
                            return told.count
                        }
                        if count == 1 { stage.change(.groupChanged, position: 2, to: stage.begun.map(\.id)) }
                        if count == 2 { stage.end([WatchStage.sessionID]) }
                    }
                }
            }
            #expect(error?.code == .unauthenticated && error?.reason == "SESSION_REVOKED")
            let messages = told.withLock { $0 }
            #expect(messages.map(\.position) == [WatchStage.sealed(1), WatchStage.sealed(2)])
            #expect(messages.last?.changes.map(\.kind) == [.groupChanged])
            #expect(stage.begun.map(\.begin.position) == [.init([0, 1, 2])])
        }
    }
}
