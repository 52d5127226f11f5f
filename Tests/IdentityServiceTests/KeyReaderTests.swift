import API
import Foundation
import IdentityDomain
import JOSE
import KeyRings
import RPC
import ServiceKit
import ServiceModels
import SwiftProtobuf
import Testing

@testable import IdentityService

/// Keys are replaced while the service runs.
struct KeyReaderTests {
    private let folders: KeyFolders
    private let folder: KeyFolder
    private let parent: String

    init() throws {
        parent = FileManager.default.temporaryDirectory.appending(path: "vestibule-keys-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        folders = KeyFolders(secrets: parent)
        folder = folders.own
        _ = try folders.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: 0)
    }

    /// Runs a service with the folder's keys, and removes it.
    private func run(_ body: (TestService) async throws -> Void) async throws {
        defer { try? FileManager.default.removeItem(atPath: parent) }
        try await TestService.run(keys: folder, body)
    }

    /// Does one step of each kind.
    private func step(_ service: TestService, after seconds: Int64 = 0, everySeconds: Int64 = 0) throws {
        var rules = KeyRotation.Rules()
        (rules.everySeconds, rules.skipsWait) = (everySeconds, true)
        let rotation = KeyRotation(folders: folders, rules: rules)
        for kind in KeyKind.all {
            let outcome = try rotation.step(kind, nowSeconds: service.clock.nowSeconds + seconds)
            #expect(outcome.step != nil)
        }
    }

    private func keyID(_ token: String) throws -> String? { try CompactJWS(parsing: token).keyID }

    /// The published keys of the kind `signing`.
    private func keySet(_ service: TestService) async throws -> Set<String> {
        let answer = try await service.client.getJWKS(.init())
        let entries = try KeySet(parsing: Array(answer.jwksJson.utf8)).entries
        return Set(entries.filter { $0.key.type == .p256 }.map(\.keyID))
    }

    private func current(_ kind: KeyKind) throws -> String { try #require(try folder.read(kind)).current.id }

    @Test func `Each step of a rotation is adopted, and no session is affected`() async throws {
        try await run { service in
            let first = try current(.signing)
            let rotating = try await service.signInAnew()
            let single = try await service.signInSingle()
            #expect(try keyID(rotating.accessToken) == first)
            #expect(try await keySet(service) == [first])

            try step(service)
            let next = try #require(try folder.read(.signing)?.next).id
            #expect(try await keySet(service) == [first], "the folder hasn't been read yet")
            await service.readKeys()
            #expect(try await keySet(service) == [first, next])
            let meanwhile = try await service.signInAnew().accessToken
            #expect(try keyID(meanwhile) == first, "the next key is published, and signs nothing")

            try step(service)
            await service.readKeys()
            #expect(try await keySet(service) == [first, next])
            let later = try await service.signInAnew()
            #expect(try keyID(later.accessToken) == next)
            _ = try await service.check(later.accessToken)
            // Tokens made with the former keys.
            _ = try await service.check(rotating.accessToken)
            _ = try await service.check(single.singleToken)
            let refreshed = try await service.refresh(rotating.refreshToken).tokens
            #expect(try keyID(refreshed.accessToken) == next)

            // The refresh key stays for as long as sessions may live.
            var rules = KeyRotation.Rules()
            rules.everySeconds = 365 * 86_400
            let outcome = try KeyRotation(folders: folders, rules: rules)
                .step(.signing, nowSeconds: service.clock.nowSeconds + 3_660)
            #expect(outcome.step == .forgotten(id: first))
            await service.readKeys()
            #expect(try await keySet(service) == [next])
            _ = try await service.check(refreshed.accessToken)
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                _ = try await service.check(rotating.accessToken)
            }
            _ = try await service.renew(single.singleToken)
        }
    }

    @Test func `Two replicas, one of which has read the folder, accept each other's tokens`() async throws {
        try await run { behind in
            let database = behind.database
            let settings = behind.settings
            let ahead = IdentityParts(
                settings: settings,
                database: database,
                group: behind.group,
                fetcher: behind.provider,
                http: TestHTTP(),
                profile: OtherServices.profile,
                invites: OtherServices.invites,
                codes: [:],
                accessTokens: [:],
                clock: behind.clock.wallClock,
                logger: TestService.silentLogger
            )
            var router = Router()
            router.add(ahead.methods)
            let client = IdentityServiceClient(InProcessChannel(router))
            for _ in 0..<2 {
                try step(behind)
                await ahead.keyReader?.read()
                let before = try await behind.signInAnew()
                _ = try await client.checkSession(.with { $0.accessToken = before.accessToken })
                let refreshed = try await client.refresh(.with { $0.refreshToken = before.refreshToken }).tokens
                _ = try await behind.check(refreshed.accessToken)
                _ = try await behind.refresh(refreshed.refreshToken)
                await behind.readKeys()
            }
        }
    }

    @Test func `Leaked keys are rejected once the folder is read`() async throws {
        try await run { service in
            let tokens = try await service.signInAnew()
            let single = try await service.signInSingle()
            _ = try await service.check(tokens.accessToken)
            _ = try KeyRotation(folders: folders).replaceAll(.signing, nowSeconds: service.clock.nowSeconds)
            await service.readKeys()
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                _ = try await service.check(tokens.accessToken)
            }
            let refreshed = try await service.refresh(tokens.refreshToken).tokens
            _ = try await service.check(refreshed.accessToken)

            _ = try KeyRotation(folders: folders).replaceAll(.refresh, nowSeconds: service.clock.nowSeconds)
            await service.readKeys()
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") {
                _ = try await service.refresh(refreshed.refreshToken)
            }
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") {
                _ = try await service.check(single.singleToken)
            }
        }
    }

    /// The folder's current content, for a service.
    private func keys(of service: String) throws -> [CallerProofKey] {
        let ring = try #require(try folders.folder(of: service).read(.proof, of: service))
        return try ring.keys.compactMap { CallerProofKey(try KeyKind.randomKey($0.text)) }
    }

    @Test func `Proofs are made with the current key, and cached ones are dropped with it`() async throws {
        try await run { service in
            let token = try await service.signInAnew().accessToken
            func proofs() async throws -> IdentityV1.CallerProofs { try await service.check(token).callerProofs }
            func isTaken(_ text: String, at name: String) throws -> Bool {
                let (keys, now) = (try keys(of: name), service.clock.nowMilliseconds)
                return (try? CallerProof(text, under: keys, for: name, nowMilliseconds: now)) != nil
            }
            func isTaken(_ proofs: IdentityV1.CallerProofs) throws -> Bool {
                let byProfile = try isTaken(proofs.profile, at: "profile")
                let byInvites = try isTaken(proofs.invites, at: "invites")
                #expect(byProfile == byInvites)
                return byProfile
            }
            func isTakenByIdentity(_ proofs: IdentityV1.CallerProofs) async throws -> Bool {
                var options = CallOptions()
                options.metadata.add(CallerProofKey.metadataName, proofs.identity)
                do {
                    _ = try await service.client.getAccount(.init(), options: options)
                    return true
                } catch {
                    guard error.reason == "CALLER_PROOF_INVALID" else { throw error }
                    return false
                }
            }
            let first = try await proofs()
            #expect(try isTaken(first))
            #expect(try await proofs() == first, "they are cached for a minute")

            try step(service)
            await service.readKeys()
            #expect(try await proofs() == first, "the next key makes none")
            try step(service)
            #expect(try await proofs() == first, "the folder hasn't been read yet")
            await service.readKeys()
            let second = try await proofs()
            #expect(second.identity != first.identity && second.profile != first.profile)
            #expect(try isTaken(second))
            #expect(try isTaken(first))
            #expect(try await isTakenByIdentity(first))
            #expect(try await isTakenByIdentity(second))

            _ = try KeyRotation(folders: folders).replaceAll(.proof, nowSeconds: service.clock.nowSeconds)
            await service.readKeys()
            let third = try await proofs()
            #expect(try isTaken(third))
            #expect(try !isTaken(second))
            #expect(try !isTaken(first))
            #expect(try await isTakenByIdentity(third))
            #expect(try await !isTakenByIdentity(second))
        }
    }

    @Test func `A folder that can't be used changes nothing, and is reported`() async throws {
        try await run { service in
            let tokens = try await service.signInAnew()
            let good = try Data(contentsOf: URL(filePath: folder.file(.signing)))
            for bad in [Data("no keys".utf8), nil] {
                try FileManager.default.removeItem(atPath: folder.file(.signing))
                try bad?.write(to: URL(filePath: folder.file(.signing)))
                await service.readKeys()
                _ = try await service.check(tokens.accessToken)
                _ = try await service.signInAnew()
                try good.write(to: URL(filePath: folder.file(.signing)))
            }
            await service.readKeys()
            var text = MetricsText()
            try #require(service.parts.keyReader).write(to: &text)
            let name = "vestibule_identity_key_folder_reads_total"
            #expect(text.text.contains(#"\#(name){outcome="failed"} 2"#))
            #expect(text.text.contains(#"\#(name){outcome="unchanged"} 1"#))
            #expect(text.text.contains(#"\#(name){outcome="changed"} 0"#))
            #expect(text.text.contains(#"vestibule_identity_own_keys{kind="signing",state="current"} 1"#))
            #expect(text.text.contains(#"vestibule_identity_own_keys{kind="refresh",state="next"} 0"#))
        }
    }
}
