import API
import APIDoubles
import HTTPJSON
import HTTPTypes
import SwiftProtobuf
import Testing
import WebPages

@testable import GatewayService

/// The notice about sign-ins on other devices.
struct NewSignInsTests {
    private static let day: Int64 = 86_400_000

    private static func session(_ name: String, _ milliseconds: Int64, isCurrent: Bool = false) -> AppV1.Session {
        .with {
            ($0.deviceName, $0.isCurrent) = (name, isCurrent)
            ($0.createdAt.seconds, $0.createdAt.nanos) = (milliseconds / 1000, Int32(milliseconds % 1000) * 1_000_000)
        }
    }

    private static let cases: [(Int64, Int64, [String])] = [
        (0, 20 * day, ["Phone", "Old"]), (13 * day + 1, 20 * day, ["Phone"]), (15 * day, 20 * day, []),
        (14 * day + 499, 20 * day, ["Phone"]), (14 * day + 500, 20 * day, []), (0, 21 * day, ["Phone"]),
        (0, 22 * day, []), (-1, 14 * day, ["Phone", "Old"]),
    ]

    @Test(arguments: cases)
    func `New is what came after this sign-in, within a week, and wasn't seen`(seen: Int64, now: Int64, names: [String])
    {
        let sessions = [
            Self.session("This", 10 * Self.day, isCurrent: true), Self.session("Its app", 10 * Self.day),
            Self.session("Before", 9 * Self.day), Self.session("Old", 13 * Self.day + 1),
            Self.session("Phone", 14 * Self.day + 500), Self.session("Phone", 14 * Self.day + 500),
        ]
        let devices = NewSignIns.devices(sessions, seenMilliseconds: seen, nowMilliseconds: now)
        #expect(devices.map(\.name) == names)
        let others = Array(sessions.dropFirst())
        #expect(NewSignIns.devices(others, seenMilliseconds: seen, nowMilliseconds: now).isEmpty, "no current session")
    }

    @Test func `The account's page names them until the user says that it was them`() async throws {
        let account = try AccountStage()
        let now = WatchClock.nowSeconds * 1000
        account.stage.gateway.stubs.identity.set { answers in
            answers.listSessions = { _, _ in
                .with {
                    $0.sessions = [("Mac", now - 5 * Self.day, true), ("<Phone>", now - Self.day, false)].map {
                        session in
                        .with {
                            ($0.deviceName, $0.createdAtMs, $0.isCurrent) = session
                            ($0.sessionID, $0.provider, $0.lastUsedAtMs) = (AccountStage.group, "apple", session.1)
                        }
                    }
                }
            }
        }
        let sentence = "Someone signed in to your account on this device: <Phone>."
        let page = try await account.get("/my/account").page
        #expect(page.text.contains(sentence))
        let links = page.elements.filter { $0.name == "a" }.map { $0.attributes["href"] }
        #expect(links.contains("#sessions") && page.elements.contains { $0.attributes["id"] == "sessions" })
        let until = try #require(page.elements.first { $0.attributes["name"] == "until" }?.attributes["value"])
        let answer = try await account.post("/my/account/new-devices/seen", "until=\(until)")
        #expect(answer.status == 303 && answer.location == "/my/account")
        let cookie = try #require(answer.cookie("__Host-vestibule-new-devices"))
        #expect(cookie == "__Host-vestibule-new-devices=\(now - Self.day)")
        let seen = try await account.stage.get("/my/account", cookie: "\(OpenIDStage.session); \(cookie)").page
        #expect(!seen.text.contains(sentence))
    }

    @Test(arguments: ["", "x", "-1", "99999999999999999", "9223372036854775808"])
    func `A time that is none, or to come, is not kept`(until: String) async throws {
        let answer = try await AccountStage().post("/my/account/new-devices/seen", "until=\(until)")
        #expect(answer.status == 303 && answer.cookies.isEmpty)
    }
}
