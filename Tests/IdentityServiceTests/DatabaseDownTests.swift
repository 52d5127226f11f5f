import API
import LocalPostgres
import Postgres
import RPC
import TestDatabases
import TestWaits
import Testing

@testable import IdentityService

struct DatabaseDownTests {
    @Test func `Every method is unavailable and comes back`() async throws {
        let directory = "/tmp/vst-identity-down-\(UInt32.random(in: .min ... .max))"
        // After the cluster has gone, which holds its folder's lock.
        defer { #expect(throws: Never.self) { try LocalCluster.remove(directory: directory) } }
        try await everyMethodIsUnavailableAndComesBack(in: directory)
    }

    private func everyMethodIsUnavailableAndComesBack(in directory: String) async throws {
        let cluster = try LocalCluster.start(directory: directory, settings: .volatileForTests)
        defer { cluster.stop() }
        let fresh = try TestDatabase.make(in: cluster, number: 1, schema: "identity")
        var configuration = PostgresConfiguration(fresh)
        configuration.waitLimit = .milliseconds(300)
        try await TestService.run(on: configuration) { service in
            let tokens = try await service.signIn().tokens
            let single = try await service.signInSingle()
            cluster.kill()
            let start = ContinuousClock.now
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") { _ = try await service.signIn(subject: "b") }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                _ = try await service.refresh(tokens.refreshToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                _ = try await service.check(tokens.accessToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") { _ = try await service.account(tokens.userID) }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                try await service.signOut(accessToken: tokens.accessToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                try await service.signOut(.everywhere, accessToken: tokens.accessToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                _ = try await service.check(single.singleToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                _ = try await service.renew(single.singleToken)
            }
            await expectFailure(.unavailable, "DATABASE_UNAVAILABLE") {
                var request = IdentityV1.UpdateUserMetadataRequest()
                request.changesJson = "{}"
                _ = try await service.client.updateUserMetadata(request, options: service.options(for: tokens.userID))
            }
            #expect(ContinuousClock.now - start < .seconds(30), "each call waits for a connection for 300 ms at most")
            await expectFailure(.unauthenticated, "REFRESH_TOKEN_INVALID") { _ = try await service.refresh("forged") }
            await expectFailure(.unauthenticated, "ACCESS_TOKEN_INVALID") { _ = try await service.check("forged") }
            try cluster.restart()
            // Each loop's connections come back by themselves, after a pause that grows while the database is away.
            let checked = try await available { try await service.check(tokens.accessToken) }
            #expect(checked.sessionID == tokens.sessionID)
            let refreshed = try await available { try await service.refresh(tokens.refreshToken) }
            #expect(refreshed.tokens.sessionID == tokens.sessionID)
        }
    }

    /// The body's result, tried again while the database is unavailable.
    private func available<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await eventualValue {
            do {
                return try await body()
            } catch let error as RPCError where error.reason == "DATABASE_UNAVAILABLE" {
                return nil
            }
        }
    }
}
