import Foundation
import TestDatabases
import Testing

@testable import LocalPostgres

extension ServerTests {
    struct LocalClusterTests {
        /// A folder that is removed with its cluster at the end.
        private func withFolder(_ body: (String) throws -> Void) throws {
            let folder = "/tmp/vst-cluster-\(UInt64.random(in: 0 ... .max))"
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try body(folder)
        }

        @Test
        func `Keeps its data over stop, crash and a second start, and lets one process at a time have it`() throws {
            try withFolder { folder in
                var cluster: LocalCluster? = try LocalCluster.start(directory: folder, settings: .volatileForTests)
                let first = try #require(cluster)
                #expect(first.isRunning)
                #expect(try first.runSQL("SHOW listen_addresses;") == "")
                try first.runSQL("CREATE TABLE kept (n int); INSERT INTO kept VALUES (1);")

                #expect(throws: LocalPostgresError.alreadyRunning(folder)) {
                    try LocalCluster.start(directory: folder, settings: .volatileForTests)
                }

                first.kill()
                #expect(!first.isRunning)
                #expect(throws: LocalPostgresError.self) { try first.runSQL("SELECT 1;") }
                try first.restart()
                #expect(try first.runSQL("SELECT n FROM kept;") == "1")
                first.stop()
                #expect(!first.isRunning)
                cluster = nil
            }
        }

        @Test func `Is started again from its folder, with a stale lock file in it`() throws {
            try withFolder { folder in
                do {
                    let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
                    try cluster.runSQL("CREATE TABLE kept (n int);")
                    cluster.kill()
                }
                // A crash leaves the file; give it the number of a process that lives and isn't PostgreSQL.
                let lockFile = folder + "/data/postmaster.pid"
                #expect(FileManager.default.fileExists(atPath: lockFile))
                var lines = try String(contentsOfFile: lockFile, encoding: .utf8).split(separator: "\n")
                lines[0] = "\(getppid())"
                try lines.joined(separator: "\n").write(toFile: lockFile, atomically: false, encoding: .utf8)
                let cluster = try LocalCluster.start(directory: folder, settings: .volatileForTests)
                #expect(try cluster.runSQL("SELECT count(*) FROM kept;") == "0")
                cluster.stop()
            }
        }

        @Test func `Leaves a folder alone that it did not make`() throws {
            try withFolder { folder in
                try FileManager.default.createDirectory(atPath: folder + "/base", withIntermediateDirectories: true)
                #expect(throws: LocalPostgresError.foreignFolder(folder)) { try LocalCluster.start(directory: folder) }
                #expect(throws: LocalPostgresError.foreignFolder(folder)) { try LocalCluster.remove(directory: folder) }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["base"])
            }
        }

        @Test func `Works in a folder whose path is far too long for a socket`() throws {
            try withFolder { folder in
                let long = folder + "/" + String(repeating: "long-", count: 30)
                let cluster = try LocalCluster.start(directory: long, settings: .volatileForTests)
                #expect(SocketFolder.fits(cluster.socketDirectory, port: cluster.port))
                #expect(try cluster.runSQL("SELECT 1;") == "1")
                cluster.stop()
                #expect(!FileManager.default.fileExists(atPath: cluster.socketDirectory))
                #expect(throws: LocalPostgresError.alreadyRunning(long)) { try LocalCluster.remove(directory: long) }
            }
        }

        @Test(
            .enabled(if: geteuid() == 0)
        )
        func `Runs below a folder that the server's user can't enter, and forgets it whole`() throws {
            try withFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                chmod(folder, 0o700)
                let inner = folder + "/data"
                let place: String
                do {
                    let cluster = try LocalCluster.start(directory: inner, settings: .volatileForTests)
                    #expect(try cluster.runSQL("SELECT 1;") == "1")
                    place = cluster.folder.path
                    #expect(place != inner)
                    cluster.stop()
                }
                try LocalCluster.remove(directory: inner)
                #expect(!FileManager.default.fileExists(atPath: place))
                #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: inner)) == nil)
            }
        }

        @Test func `Gives a service role its own schema and nothing else`() throws {
            let cluster = try SharedTestCluster.cluster()
            try cluster.createDatabase("roles")
            for (name, schema) in [("one", "first"), ("two", "second"), ("one", "first")] {
                try cluster.createServiceRole(name: name, password: "it's \(name)", schema: schema, database: "roles")
            }
            try cluster.runSQL(
                "CREATE TABLE second.secret (n int); ALTER TABLE second.secret OWNER TO two;",
                database: "roles"
            )
            let asOne = "SET SESSION AUTHORIZATION one; "
            try cluster.runSQL(asOne + "CREATE TABLE first.mine (n int);", database: "roles")
            for refused in [
                "SELECT * FROM second.secret", "CREATE TABLE second.x (n int)", "CREATE TABLE public.x (n int)",
                "CREATE TEMP TABLE x (n int)", "CREATE SCHEMA x", "CREATE ROLE x",
            ] {
                #expect(throws: LocalPostgresError.self) {
                    try cluster.runSQL(asOne + refused + ";", database: "roles")
                }
            }
            let connects = try cluster.runSQL(
                "SELECT has_database_privilege('one', 'roles', 'connect'), has_database_privilege('public', 'roles', 'connect');"
            )
            #expect(connects == "t|f")
            #expect(throws: LocalPostgresError.invalidName("x; y")) { try cluster.createDatabase("x; y") }
        }

        @Test func `Reads the server's lock file`() throws {
            #expect(PostmasterFile(text: "") == nil)
            #expect(PostmasterFile(text: "-17\n") == nil)
            #expect(PostmasterFile(text: "17\n/data\n")?.isReady == false)
            let ready = try #require(PostmasterFile(text: "17\n/data\n1\n5432\n/run\n\n  1 2\nready   \n"))
            #expect(ready.processID == 17 && ready.isReady)
        }
    }
}
