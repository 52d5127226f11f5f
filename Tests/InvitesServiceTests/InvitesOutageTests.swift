import API
import LocalPostgres
import Models
import RPC
import Testing

@testable import InvitesService

@Suite(.serialized) struct InvitesOutageTests {
    @Test func `While the database is down calls end with UNAVAILABLE, and work again when it is back`() async throws {
        let folder = "/tmp/vst-invites-\(UInt32.random(in: .min ... .max))"
        let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
        defer {
            cluster.stop()
            try? LocalCluster.remove(directory: folder)
        }
        let facts = try TestDatabase.make(in: cluster, number: 1, schema: "invites")
        try await InvitesFixture.run(on: facts, waitLimit: .milliseconds(300)) { service in
            let maria = someone()
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
            var groups: [InvitesV1.Group] = []
            for _ in 0..<1_000 where groups.isEmpty {
                groups = (try? await service.groups(of: maria).groups) ?? []
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(groups.map(\.groupID) == [group])
            #expect(try await service.add(phone(1), to: group, by: maria).state == .pending)
        }
    }
}
