import Foundation
import Testing

@testable import VestibuleClient

struct SessionRecordTests {
    private static let session = SessionRecord.Session(
        accessToken: "at",
        refreshToken: "rt",
        idToken: nil,
        userID: "u",
        sessionID: "s",
        clientID: "demo",
        lifetimeSeconds: 600,
        receivedAt: 1_795_817_813_453
    )

    @Test func `A record is read as it was written`() throws {
        var record = SessionRecord()
        record.generation = 7
        record.session = Self.session
        record.ended = .sessionRevoked
        record.signOuts = [.init(refreshToken: "a", clientID: nil), .init(refreshToken: "b", clientID: "demo")]
        record.session?.isGuest = true
        record.guest = .init(refreshToken: "g", userID: "v")
        record.pendingName = .init(
            provider: "apple",
            subject: "x",
            credential: "y",
            fullName: "Ana Cruz",
            email: nil,
            keptAt: 5
        )
        record.hosted = [.init(state: "1", nonce: "2", verifier: "3", redirectURI: "4", begunAt: 6)]
        #expect(try SessionRecord(parsing: record.serialized) == record)
        #expect(try SessionRecord(parsing: SessionRecord().serialized) == SessionRecord())
    }

    @Test(arguments: [
        "", "{}", #"{"version":0,"generation":1,"session":null}"#, "x", #"{"version":1,"session":{"accessToken":"a"}}"#,
        #"{"version":1,"generation":"x"}"#,
    ])
    func `A record of another version or form is refused`(text: String) {
        #expect(throws: JSONFault.self) { try SessionRecord(parsing: Data(text.utf8)) }
    }

    @Test func `What another version keeps beside stays`() throws {
        let text = #"{"version":1,"generation":1,"session":null,"aMemberOfTomorrow":{"deep":[1]}}"#
        var record = try SessionRecord(parsing: Data(text.utf8))
        record.session = Self.session
        let kept = try JSONObject(parsing: record.serialized)
        #expect(kept.object("aMemberOfTomorrow")?.members == ["deep": .list([.integer(1)])])
        #expect(throws: SessionRecord.newer) {
            try SessionRecord(parsing: Data(#"{"version":2,"session":{"another":"form"}}"#.utf8))
        }
    }

    @Test func `A guest is kept when another user signs in, and signed out when the user leaves`() {
        var record = SessionRecord()
        record.begin(Self.session)
        record.session?.isGuest = true
        var full = Self.session
        (full.refreshToken, full.sessionID) = ("rt2", "s2")
        var linked = record
        linked.begin(full)
        #expect(linked.guest == nil && linked.signOuts.map(\.refreshToken) == ["rt"], "it is the guest's own account")
        full.userID = "v"
        record.begin(full)
        #expect(record.session == full && record.signOuts.isEmpty)
        #expect(record.guest == .init(refreshToken: "rt", userID: "u"))
        record.leaveSession()
        record.leaveGuest()
        #expect(record.guest == nil && record.signOuts.map(\.refreshToken) == ["rt2", "rt"])
    }

    @Test func `The same session goes on when it is opened again, even if it was to be ended`() {
        var record = SessionRecord()
        record.begin(Self.session)
        var again = Self.session
        again.refreshToken = "newer"
        record.begin(again)
        #expect(record.session == again && record.signOuts.isEmpty)
        record.leaveSession()
        record.begin(again)
        #expect(record.session == again && record.signOuts.isEmpty)
        var other = Self.session
        (other.sessionID, other.refreshToken) = ("t", "other")
        record.begin(other)
        #expect(record.session == other && record.signOuts.map(\.refreshToken) == ["newer"])
    }

    @Test func `A sign-in by the page has an hour, and a name a week`() {
        var record = SessionRecord()
        record.hosted = [.init(state: "1", nonce: "2", verifier: "3", redirectURI: "4", begunAt: 1000)]
        record.pendingName = .init(provider: "apple", fullName: "Ana Cruz", keptAt: 1000)
        record.dropExpired(3_601_000)
        #expect(record.hosted.count == 1)
        record.dropExpired(3_601_001)
        #expect(record.hosted.isEmpty && record.pendingName != nil)
        record.dropExpired(604_801_000)
        #expect(record.pendingName != nil)
        record.dropExpired(604_801_001)
        #expect(record.pendingName == nil)
    }

    @Test func `Sessions to end are eight at most, the newest`() {
        var record = SessionRecord()
        for number in 1...10 {
            record.session = Self.session
            record.session?.refreshToken = "\(number)"
            record.leaveSession()
        }
        #expect(record.session == nil)
        #expect(record.signOuts.map(\.refreshToken) == (3...10).map(String.init))
    }
}
