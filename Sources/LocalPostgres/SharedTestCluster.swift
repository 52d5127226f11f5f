import Foundation
import Synchronization

/// One cluster for all tests of a process: started when first asked for, removed when the process ends.
public enum SharedTestCluster {
    private struct State {
        var cluster: LocalCluster?
        var databaseCount = 0
    }

    private static let state = Mutex(State())
    private static let prefix = "vst-test-"

    /// The cluster. The first call takes one or two seconds and blocks.
    public static func cluster() throws -> LocalCluster {
        try state.withLock { state in
            if let cluster = state.cluster { return cluster }
            let cluster = try start()
            state.cluster = cluster
            return cluster
        }
    }

    /// A new database with one service role, after the SQL was run in it as superuser. The role owns the schema, unless
    /// another does (`hasOwner`), as in a deployment.
    public static func freshDatabase(
        schema: String = "app",
        bootstrapSQL: String = "",
        hasOwner: Bool = false
    ) throws -> TestDatabase {
        let cluster = try cluster()
        let number = state.withLock { state in
            state.databaseCount += 1
            return state.databaseCount
        }
        return try TestDatabase.make(
            in: cluster,
            number: number,
            schema: schema,
            bootstrapSQL: bootstrapSQL,
            hasOwner: hasOwner
        )
    }

    private static func start() throws -> LocalCluster {
        removeAbandoned()
        var name = Array("/tmp/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw LocalPostgresError.system(call: "mkdtemp", path: "/tmp", errno: errno)
        }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let cluster = try LocalCluster.start(directory: path, settings: .volatileForTests)
        atexit { SharedTestCluster.discard() }
        return cluster
    }

    /// At the end of the process; a process that was killed leaves it to the next one's start.
    private static func discard() {
        let cluster = state.withLock { state in
            defer { state.cluster = nil }
            return state.cluster
        }
        guard let cluster else { return }
        cluster.kill()
        try? FileManager.default.removeItem(atPath: cluster.folder.path)
    }

    /// Folders whose process is gone: their lock can be had.
    private static func removeAbandoned() {
        let files = FileManager.default
        for name in (try? files.contentsOfDirectory(atPath: "/tmp")) ?? [] where name.hasPrefix(prefix) {
            let path = "/tmp/" + name
            guard ClusterFolder.isAbandoned(path), let user = try? ServerUser.choose(),
                let folder = try? ClusterFolder.open(path, user: user)
            else { continue }
            LocalCluster.stopOrphan(of: folder)
            close(folder.lockDescriptor)
            try? files.removeItem(atPath: path)
        }
    }
}
