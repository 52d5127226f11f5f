import API
import Foundation
import LocalPostgres
import Models
import RPC
import ServiceKit
import TestDatabases
import TestWaits
import Testing

@testable import InvitesService

@Suite(.serialized) struct InvitesOutageTests {
    @Test func `While the database is down calls end with UNAVAILABLE, and work again when it is back`() async throws {
        let folder = "/tmp/vst-invites-\(UInt32.random(in: .min ... .max))"
        let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
        defer {
            cluster.stop()
            // `LocalCluster.remove` refuses while the cluster's object holds the folder's lock.
            try? FileManager.default.removeItem(atPath: folder)
        }
        let facts = try TestDatabase.make(in: cluster, number: 1, schema: "invites")
        try await InvitesFixture.run(on: facts, waitLimit: .seconds(2)) { service in
            let maria = someone()
            #expect(try await available { try await service.groups(of: maria).groups.isEmpty })
            let group = try await service.group(by: maria)
            cluster.stop()
            for error in [
                try await failure { try await service.groups(of: maria) },
                try await failure { try await service.group("More", by: maria) },
                try await failure { try await service.add(phone(1), to: group, by: maria) },
                try await failure { try await service.apply(claimed(1, by: maria)) },
            ] {
                #expect(error.code == .unavailable)
                #expect(error.reason == "DATABASE_UNAVAILABLE")
            }
            // The cleanup doesn't end by it.
            await service.parts.cleanup.clean()
            try cluster.restart()
            // Each loop finds its way back by itself, so the calls may succeed one after the other.
            #expect(try await available { try await service.groups(of: maria).groups.map(\.groupID) == [group] })
            #expect(try await available { try await service.add(phone(1), to: group, by: maria).state == .pending })
            #expect(try await available { try await service.apply(claimed(1, by: someone())) == 1 })
        }
    }

    /// The body's result, tried again while the service is unavailable.
    private func available<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await eventualValue {
            do {
                return try await body()
            } catch let error as RPCError where error.code == .unavailable {
                return nil
            }
        }
    }
}
