import Foundation
import JOSE
import ServiceKit
import Testing

@testable import KeyRings

/// The services' keys derived from identity's: they follow them, whatever happens between two files.
struct DerivedKeysTests {
    private let start: Int64 = 1_000_000
    private let services = KeyKind.proof.derivedFor

    private func withFolders(_ body: (KeyFolders) throws -> Void) throws {
        let parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let folders = KeyFolders(secrets: parent)
        _ = try folders.initialize(folderMode: 0o755, mode: 0o444, nowSeconds: start)
        try body(folders)
    }

    private func rotation(_ folders: KeyFolders, every: Int64 = 0, atOnce: Bool = false) -> KeyRotation {
        var rules = KeyRotation.Rules()
        (rules.everySeconds, rules.skipsWait) = (every, atOnce)
        return KeyRotation(folders: folders, rules: rules)
    }

    private func own(_ folders: KeyFolders) throws -> KeyRing { try #require(try folders.own.read(.proof)) }

    private func ring(_ folders: KeyFolders, of service: String) throws -> KeyRing {
        try #require(try folders.folder(of: service).read(.proof, of: service))
    }

    private func expectFollowing(_ folders: KeyFolders, _ comment: Comment = "") throws {
        let own = try own(folders)
        for service in services {
            let ring = try ring(folders, of: service)
            #expect(ring.keys.map(\.id) == own.keys.map(\.id), comment)
            #expect(ring.keys.map(\.state) == own.keys.map(\.state), comment)
            #expect(ring.keys.map(\.sinceSeconds) == own.keys.map(\.sinceSeconds), comment)
            for (derived, master) in zip(ring.keys, own.keys) {
                let key = CallerProofKey(master: try KeyKind.randomKey(master.text), service: service)
                #expect(try KeyKind.randomKey(derived.text) == key?.bytes, comment)
            }
        }
    }

    /// The files in the order in which a step writes them.
    private func files(_ folders: KeyFolders) -> [String] {
        services.map { folders.folder(of: $0).file(.proof) } + [folders.own.file(.proof)]
    }

    private func contents(_ folders: KeyFolders) throws -> [Data] {
        try files(folders).map { try Data(contentsOf: URL(filePath: $0)) }
    }

    private func put(_ contents: [Data], _ folders: KeyFolders) throws {
        for (file, content) in zip(files(folders), contents) {
            try FileManager.default.removeItem(atPath: file)
            try content.write(to: URL(filePath: file))
        }
    }

    @Test func `A key is everywhere for a minute before it makes proofs, and is kept until those expire`() throws {
        try withFolders { folders in
            try expectFollowing(folders)
            let first = try own(folders).current.id
            let rotation = rotation(folders, every: 3_600)
            #expect(try rotation.step(.proof, nowSeconds: start + 3_599).step == nil)
            var time = start + 3_600
            let published = try rotation.step(.proof, nowSeconds: time)
            #expect(published.ring.keys.map(\.state) == [.current, .next] && published.followsAtSeconds == time + 60)
            try expectFollowing(folders)
            #expect(try rotation.step(.proof, nowSeconds: time + 59).step == nil)
            time += 60
            let promoted = try rotation.step(.proof, nowSeconds: time)
            let next = try #require(published.ring.next).id
            #expect(promoted.step == .promoted(id: next, retired: first))
            #expect(promoted.following == .forget && promoted.followsAtSeconds == time + 180)
            try expectFollowing(folders)
            #expect(try rotation.step(.proof, nowSeconds: time + 179).step == nil)
            #expect(try rotation.step(.proof, nowSeconds: time + 180).step == .forgotten(id: first))
            try expectFollowing(folders)
            #expect(try own(folders).keys.map(\.id) == [next])
        }
    }

    @Test func `A step that is interrupted between two files fails no call, and is completed by the next run`() throws {
        try withFolders { folders in
            let rotation = rotation(folders, atOnce: true)
            // Published, used, published again and used, and gone.
            for time in [start, start, start + 1, start + 1, start + 1_000] {
                let before = try contents(folders)
                let done = try rotation.step(.proof, nowSeconds: time)
                let after = try contents(folders)
                for count in 0..<after.count {
                    try put(Array(after[..<count]) + before[count...], folders)
                    // Whichever of the files a program has read: identity makes proofs with keys that all services know.
                    for service in services {
                        let known = try ring(folders, of: service).keys.map(\.id)
                        let current = try own(folders).current.id
                        #expect(known.contains(current), "after \(count) files")
                    }
                    let again = try rotation.step(.proof, nowSeconds: time)
                    #expect(again.following == done.following && again.ring.keys.count == done.ring.keys.count)
                    #expect(again.ring.keys.map(\.state) == done.ring.keys.map(\.state), "after \(count) files")
                    try expectFollowing(folders, "after \(count) files")
                }
            }
        }
    }

    @Test func `A key that a service lacked counts as published from when it got it`() throws {
        try withFolders { folders in
            let rotation = rotation(folders)
            let former = try contents(folders)
            _ = try rotation.step(.proof, nowSeconds: start)
            let published = try contents(folders)
            let next = try #require(try own(folders).next).id
            for (index, service) in services.enumerated() {
                // The state after one folder was restored from a backup.
                var mixed = published
                mixed[index] = former[index]
                try put(mixed, folders)
                let mended = try rotation.step(.proof, nowSeconds: start + 100)
                #expect(mended.step == nil && mended.followsAtSeconds == start + 160, "\(service)")
                #expect(mended.ring.next?.id == next)
                try expectFollowing(folders)
                // A run that fixed it and was killed before identity's file: the wait continues.
                var cut = try contents(folders)
                cut[services.count] = published[services.count]
                try put(cut, folders)
                #expect(try rotation.step(.proof, nowSeconds: start + 159).followsAtSeconds == start + 160)
                try expectFollowing(folders)
                #expect(try rotation.step(.proof, nowSeconds: start + 160).step != nil)
                try put(published, folders)
            }
            // A run that activated the key, and was killed: the key has been everywhere for long enough.
            _ = try rotation.step(.proof, nowSeconds: start + 60)
            let promoted = try contents(folders)
            try put([promoted[0]] + published[1...], folders)
            #expect(try rotation.step(.proof, nowSeconds: start + 61).step != nil)
        }
    }

    @Test func `Leaked keys are removed at once, and a killed run is completed by any other`() throws {
        try withFolders { folders in
            let rotation = rotation(folders, every: 1_000_000)
            let before = try contents(folders)
            let outcome = try rotation.replaceAll(.proof, nowSeconds: start)
            try expectFollowing(folders)
            let after = try contents(folders)
            for count in 0..<services.count {
                // Identity's file is written first.
                try put(Array(after[..<count]) + before[count..<services.count] + [after[services.count]], folders)
                #expect(try rotation.step(.proof, nowSeconds: start).ring == outcome.ring)
                try expectFollowing(folders)
            }
            #expect(try own(folders).keys.count == 1)
        }
    }

    @Test func `Each run, and init, repair a service's folder`() throws {
        try withFolders { folders in
            let profile = folders.folder(of: "profile")
            let invites = folders.folder(of: "invites")
            let runs: [() throws -> [KeyFolders.Change]] = [
                {
                    _ = try rotation(folders, every: 1_000_000).step(.proof, nowSeconds: start)
                    return []
                },
                { try folders.initialize(folderMode: 0o755, mode: 0o444, nowSeconds: start).map(\.change) },
            ]
            for run in runs {
                try FileManager.default.removeItem(atPath: profile.path)
                try FileManager.default.removeItem(atPath: invites.file(.proof))
                try Data("half".utf8).write(to: URL(filePath: invites.file(.proof)))
                let changes = try run()
                #expect(
                    changes.isEmpty || changes == [.kept, .kept, .kept, .kept, .made, .renewed, .kept, .kept, .kept]
                )
                try expectFollowing(folders)
                func mode(_ path: String) throws -> Int? {
                    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                }
                #expect(try mode(profile.path) == 0o755 && mode(profile.file(.proof)) == 0o444)
            }
        }
    }

    @Test func `A folder that is given to the wrong program is reported`() throws {
        try withFolders { folders in
            func problem(_ folder: KeyFolder, _ service: String?) -> String? {
                #expect(throws: FileError.self) { try folder.read(.proof, of: service) }?.description
            }
            #expect(problem(folders.own, "profile")?.hasSuffix("holds other keys than those of profile") == true)
            let profile = folders.folder(of: "profile")
            #expect(problem(profile, "invites")?.hasSuffix("holds other keys than those of invites") == true)
            #expect(problem(profile, nil)?.hasSuffix("holds other keys than those of identity itself") == true)
        }
    }
}
