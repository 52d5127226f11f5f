import Foundation
import LocalPostgres
import Postgres
import Synchronization

/// One cluster for all tests of a process: started when first asked for, removed when the process ends.
public enum SharedTestCluster {
    private struct State {
        var cluster: LocalCluster?
        var directory = ""
        var databaseCount = 0
    }

    private static let state = Mutex(State())
    private static let prefix = "vst-test-"
    /// Where clusters are: in memory if there is room for it.
    private static let folders = ["/dev/shm", "/tmp"]
    private static let memoryBytesMin = 4 << 30

    /// The cluster. The first call takes one or two seconds and blocks.
    public static func cluster() throws -> LocalCluster {
        try state.withLock { state in
            if let cluster = state.cluster { return cluster }
            let (cluster, directory) = try start()
            (state.cluster, state.directory) = (cluster, directory)
            return cluster
        }
    }

    /// The cluster, and a number that no database in it has yet. Blocks as `cluster()` does.
    static func nextDatabase() throws -> (cluster: LocalCluster, number: Int) {
        let cluster = try cluster()
        return state.withLock { state in
            state.databaseCount += 1
            return (cluster, state.databaseCount)
        }
    }

    private static func start() throws -> (LocalCluster, directory: String) {
        // A process that was killed leaves its cluster to the next one.
        for folder in folders {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            where name.hasPrefix(prefix) {
                LocalCluster.removeAbandoned(directory: "\(folder)/\(name)")
            }
        }
        let folder = folders.first { freeBytes($0) >= memoryBytesMin } ?? "/tmp"
        var name = Array("\(folder)/\(prefix)XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw LocalPostgresError.system(call: "mkdtemp", path: folder, errno: errno)
        }
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        var settings = LocalCluster.Settings.volatileForTests
        // Serializable transactions lock what they read; the default is for few of them.
        if PostgresConfiguration.testEngine == .distributed {
            settings.parameters["max_pred_locks_per_transaction"] = "4096"
        }
        let cluster = try LocalCluster.start(directory: path, settings: settings)
        atexit { SharedTestCluster.discard() }
        return (cluster, path)
    }

    /// What is free in a folder's file system; 0 if the folder isn't there.
    private static func freeBytes(_ folder: String) -> Int {
        var system = statvfs()
        guard statvfs(folder, &system) == 0 else { return 0 }
        return Int(system.f_bavail) * Int(system.f_frsize)
    }

    private static func discard() {
        let (cluster, directory) = state.withLock { state in
            defer { state.cluster = nil }
            return (state.cluster, state.directory)
        }
        guard let cluster else { return }
        cluster.kill()
        try? FileManager.default.removeItem(atPath: directory)
    }
}
