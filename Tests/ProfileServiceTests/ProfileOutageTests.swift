import API
import Foundation
import LocalPostgres
import Models
import RPC
import TestDatabases
import TestWaits
import Testing

@testable import ProfileService

@Suite(.serialized) struct ProfileOutageTests {
    @Test func `While the database is down calls end with UNAVAILABLE, and work again when it is back`() async throws {
        let folder = "/tmp/vst-profile-\(UInt32.random(in: .min ... .max))"
        let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
        defer {
            cluster.stop()
            // `LocalCluster.remove` refuses while the cluster's object holds the folder's lock.
            try? FileManager.default.removeItem(atPath: folder)
        }
        let facts = try TestDatabase.make(in: cluster, number: 1, schema: "profile")
        try await ProfileFixture.run(on: facts, waitLimit: .seconds(1)) { service in
            let user = someone()
            try await eventually("it serves") {
                (try? await service.update(user, displayName: "Maria")) != nil
            }
            cluster.stop()
            for _ in 0..<3 {
                let read = try await failure { try await service.profile(user) }
                #expect(read.code == .unavailable)
                #expect(read.reason == "DATABASE_UNAVAILABLE")
                let write = try await failure { try await service.update(user, phone: phone(1)) }
                #expect(write.code == .unavailable)
                #expect(write.reason == "DATABASE_UNAVAILABLE")
            }
            try cluster.restart()
            try await eventually("it serves again") {
                (try? await service.profile(user))?.displayName == "Maria"
            }
            // Each loop finds its way back by itself, so a save may succeed later than a read.
            try await eventually("it saves again") {
                (try? await service.update(user, phone: phone(1)))?.phoneNumber == "+" + digits(1)
            }
        }
    }
}
