import API
import Foundation
import LocalPostgres
import Models
import RPC
import ServiceKit
import TestDatabases
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
            try await eventually { try await service.groups(of: maria).groups.isEmpty }
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
            try await eventually { try await service.groups(of: maria).groups.map(\.groupID) == [group] }
            try await eventually { try await service.add(phone(1), to: group, by: maria).state == .pending }
            try await eventually { try await service.apply(claimed(1, by: someone())) == 1 }
        }
    }

    /// Calls until the answer is the right one, for at most a hundred tries of UNAVAILABLE.
    private func eventually(
        sourceLocation: SourceLocation = #_sourceLocation,
        _ isSo: () async throws -> Bool
    ) async throws {
        for _ in 0..<100 {
            do {
                #expect(try await isSo(), sourceLocation: sourceLocation)
                return
            } catch let error as RPCError where error.code == .unavailable {
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        Issue.record("it doesn't serve again", sourceLocation: sourceLocation)
    }
}
