import Foundation
import JOSE
import ServiceKit
import Synchronization
import Testing

@testable import KeyRings

struct KeyRotationTests {
    private let start: Int64 = 1_000_000
    private let day: Int64 = 86_400

    private func withFolders(_ body: (KeyFolders) throws -> Void) throws {
        let parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let folders = KeyFolders(secrets: parent)
        let made = try folders.initialize(folderMode: 0o755, mode: 0o444, nowSeconds: start)
        #expect(made.count == 9 && made.allSatisfy { $0.change == .made })
        try body(folders)
    }

    private func withFolder(_ body: (KeyFolders, KeyFolder) throws -> Void) throws {
        try withFolders { try body($0, $0.own) }
    }

    private func states(_ ring: KeyRing) -> [KeyRing.State] { ring.keys.map(\.state) }

    @Test func `A signing key is published, signs, is retired as its public half, and goes`() throws {
        try withFolder { folders, folder in
            let rotation = KeyRotation(folders: folders)
            let first = try #require(try folder.read(.signing)).current
            var time = start

            // Within an hour of the start nothing is begun, however often it is run.
            #expect(try rotation.step(.signing, nowSeconds: time).step == nil)
            let early = try rotation.look(.signing)
            #expect(early.following == .publish && early.followsAtSeconds == start + 3_600)

            time = start + 3_600
            let published = try rotation.step(.signing, nowSeconds: time)
            let next = try #require(published.ring.next)
            #expect(published.step == .published(id: next.id) && states(published.ring) == [.current, .next])
            #expect(published.ring.current == first, "it still signs")
            // Longer than a key set may be cached, and a folder takes to be read.
            #expect(published.following == .promote && published.followsAtSeconds == time + 300 + 60)
            #expect(try rotation.step(.signing, nowSeconds: time + 359).step == nil)

            time += 360
            let promoted = try rotation.step(.signing, nowSeconds: time)
            #expect(promoted.step == .promoted(id: next.id, retired: first.id))
            #expect(promoted.ring.current.text == next.text && states(promoted.ring) == [.current, .retired])
            let retired = try #require(promoted.ring.retired.first)
            #expect(retired.text == (try SigningKey(pem: first.text).verificationKey.pem()))
            let file = try String(contentsOfFile: folder.file(.signing), encoding: .utf8)
            #expect(file.components(separatedBy: "PRIVATE KEY").count == 3, "one key pair's two lines")
            #expect(try rotation.step(.signing, nowSeconds: time + 3_599).step == nil)

            // The longest that an access token lives, and the time that a replica may have gone on signing. Another rotation
            // may begin before that.
            #expect(promoted.following == .publish && promoted.followsAtSeconds == time + 3_600)
            let slow = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 90 * 86_400 })
            #expect(try slow.look(.signing).followsAtSeconds == time + 3_660)
            let forgotten = try slow.step(.signing, nowSeconds: time + 3_660)
            #expect(forgotten.step == .forgotten(id: first.id) && states(forgotten.ring) == [.current])
            #expect(forgotten.following == .publish && forgotten.followsAtSeconds == time + 90 * day)
        }
    }

    private static func rules(_ change: (inout KeyRotation.Rules) -> Void) -> KeyRotation.Rules {
        var rules = KeyRotation.Rules()
        change(&rules)
        return rules
    }

    @Test func `A refresh key verifies for as long as a session may live`() throws {
        try withFolder { folders, folder in
            let rules = Self.rules { ($0.sessionSeconds, $0.everySeconds) = (100 * 86_400, 365 * 86_400) }
            let rotation = KeyRotation(folders: folders, rules: rules)
            let first = try #require(try folder.read(.refresh)).current
            var time = start + 365 * day
            #expect(try rotation.step(.refresh, nowSeconds: time).ring.next != nil)
            #expect(try rotation.step(.refresh, nowSeconds: time + 59).step == nil)
            time += 60
            let promoted = try rotation.step(.refresh, nowSeconds: time)
            #expect(promoted.ring.retired.map(\.text) == [first.text], "it verifies as it did")
            #expect(promoted.following == .forget && promoted.followsAtSeconds == time + 100 * day + 60)
            #expect(try rotation.step(.refresh, nowSeconds: time + 100 * day).step == nil)
            #expect(try rotation.step(.refresh, nowSeconds: time + 100 * day + 60).step == .forgotten(id: first.id))
        }
    }

    @Test func `There are never more keys than everybody takes, and no live one goes for another`() throws {
        try withFolder { folders, folder in
            let rotation = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 0 })
            var time = start
            var steps = 0
            while try rotation.step(.refresh, nowSeconds: time).step != nil {
                time += 60
                steps += 1
                #expect(try #require(try folder.read(.refresh)).keys.count <= KeyRing.keysMax)
                guard steps < 50 else { break }
            }
            // Seven times a next one and its use.
            #expect(steps == 14)
            let full = try rotation.look(.refresh)
            #expect(full.ring.keys.count == 8 && full.following == .forget)
            #expect(full.followsAtSeconds == start + 60 + 180 * day + 60, "when the first one's last session is over")
        }
    }

    @Test func `Keys that leaked are all gone at once`() throws {
        try withFolder { folders, folder in
            let rotation = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 0 })
            _ = try rotation.step(.signing, nowSeconds: start)
            let before = try #require(try folder.read(.signing))
            let outcome = try rotation.replaceAll(.signing, nowSeconds: start + 1)
            #expect(outcome.step == .replaced(id: outcome.ring.current.id, gone: before.keys.map(\.id)))
            #expect(outcome.ring.keys.count == 1 && !before.keys.map(\.id).contains(outcome.ring.current.id))
            #expect(try folder.read(.signing) == outcome.ring)
            #expect(try #require(try folder.read(.refresh)).current.sinceSeconds == start, "other kinds stay")
        }
    }

    @Test func `A leaked key of the vault seals nothing more, and opens until its time is over`() throws {
        try withFolder { folders, folder in
            let rotation = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 0 })
            let first = try #require(try folder.read(.vault)).current
            let next = try #require(try rotation.step(.vault, nowSeconds: start).ring.next)
            let outcome = try rotation.replaceAll(.vault, nowSeconds: start + 1)
            #expect(outcome.step == .promoted(id: outcome.ring.current.id, retired: first.id))
            #expect(states(outcome.ring) == [.current, .retired, .retired])
            #expect(Set(outcome.ring.retired.map(\.text)) == [first.text, next.text])
            #expect(outcome.ring.retired.allSatisfy { $0.sinceSeconds == start + 1 })
            for second in 2...6 { _ = try rotation.replaceAll(.vault, nowSeconds: start + Int64(second)) }
            #expect(try rotation.look(.vault).ring.keys.count == KeyRing.keysMax)
            #expect(throws: FileError.self) { try rotation.replaceAll(.vault, nowSeconds: start + 7) }
            #expect(try rotation.look(.vault).ring.keys.contains { $0.text == first.text }, "nothing is lost for it")
            // The oldest goes thirty days after it was retired, and the time that a replica may have gone on with it.
            let kept = KeyKind.vaultKeySeconds + 60
            #expect(try rotation.step(.vault, nowSeconds: start + kept).step == nil)
            let forgotten = try rotation.step(.vault, nowSeconds: start + 1 + kept).step
            #expect(forgotten == .forgotten(id: first.id) || forgotten == .forgotten(id: next.id))
        }
    }

    @Test func `The wait may be left out`() throws {
        try withFolder { folders, folder in
            let rules = Self.rules { ($0.everySeconds, $0.skipsWait) = (0, true) }
            let rotation = KeyRotation(folders: folders, rules: rules)
            _ = try rotation.step(.signing, nowSeconds: start)
            let promoted = try rotation.step(.signing, nowSeconds: start)
            #expect(promoted.ring.next == nil && promoted.ring.retired.count == 1)
        }
    }

    @Test func `Of many concurrent runs one does each step`() throws {
        try withFolder { folders, folder in
            let rotation = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 0 })
            let steps = StepCount()
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                if let outcome = try? rotation.step(.signing, nowSeconds: start), outcome.step != nil { steps.add() }
            }
            #expect(steps.count == 1)
            let ring = try #require(try folder.read(.signing))
            #expect(states(ring) == [.current, .next])
        }
    }

    @Test func `Leftovers of a killed run do no harm, and a file keeps its permissions`() throws {
        try withFolder { folders, folder in
            let file = folder.file(.signing)
            try Data("half a".utf8).write(to: URL(filePath: file + ".new"))
            let rotation = KeyRotation(folders: folders, rules: Self.rules { $0.everySeconds = 0 })
            #expect(try rotation.step(.signing, nowSeconds: start).step != nil)
            #expect(!FileManager.default.fileExists(atPath: file + ".new"))
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o444)
        }
    }

    @Test func `A folder without keys is not one to rotate`() throws {
        try withFolder { folders, folder in
            try FileManager.default.removeItem(atPath: folder.file(.refresh))
            let fault = #expect(throws: FileError.self) {
                try KeyRotation(folders: folders).step(.refresh, nowSeconds: start)
            }
            #expect(fault?.description.contains("vestibule init") == true)
        }
    }
}

/// Counts from any thread.
private final class StepCount: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}
