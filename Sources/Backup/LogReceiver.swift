import FoundationEssentials
import Glibc
import ServiceKit

/// Receives the write-ahead log as the server writes it, by `pg_receivewal`, into a chain: a folder without a gap, of one cluster. A
/// commit is in it before its slot is asked to keep it no longer.
struct LogReceiver: Sendable {
    /// A chain's file: which cluster and timeline it began on.
    private struct Chain: Codable {
        static let fileName = "chain.json"
        let systemIdentifier: String
    }

    private let settings: BackupSettings
    private let store: BackupStore

    init(_ settings: BackupSettings) {
        self.settings = settings
        store = BackupStore(settings)
    }

    /// The process that receives, and its chain.
    struct Started: Sendable {
        let process: PostgresTool.Running
        let chain: String
    }

    /// Starts it. The last chain goes on if nothing between it and the server is missing; otherwise a new one begins.
    func start() async throws -> Started {
        let folder = settings.folder
        try folder.make()
        let cluster = try await store.cluster()
        let tool = try PostgresTool.find("pg_receivewal", database: settings.database)
        let hasSlot = try await store.hasSlot()
        var chain = try folder.chainNames().last
        if let last = chain, try !hasSlot || !goesOn(last, with: cluster) { chain = nil }
        if chain == nil {
            try await store.makeSlot()
            let name = BackupFolder.name(Date())
            let path = folder.chain(name)
            guard mkdir(path, 0o700) == 0 else { throw FileError.lastError("\(path) cannot be made") }
            let bytes = try JSONEncoder().encode(Chain(systemIdentifier: cluster.systemIdentifier))
            try FileBytes.replace("\(path)/\(Chain.fileName)", mode: 0o600, with: Array(bytes))
            chain = name
        }
        let name = chain ?? ""
        let process = try tool.runUntilStopped(
            [
                "--directory=\(folder.chain(name))", "--slot=\(BackupStore.slot)", "--synchronous", "--no-loop",
                "--no-password",
                "--status-interval=2",
            ]
        )
        return Started(process: process, chain: name)
    }

    /// Whether the server's log continues a chain: it is the same cluster, and on the timeline that was received last. After a restore or
    /// a promotion the chain may have what the server doesn't.
    private func goesOn(_ chain: String, with cluster: BackupStore.Cluster) throws -> Bool {
        let path = settings.folder.chain(chain)
        guard let bytes = try? FileBytes.read("\(path)/\(Chain.fileName)", bytesMax: 65_536),
            let known = try? JSONDecoder().decode(Chain.self, from: Data(bytes)),
            known.systemIdentifier == cluster.systemIdentifier
        else { return false }
        let newest = try FileBytes.names(inFolder: path).compactMap(WALFile.init).last { $0.kind != .history }
        return newest.map { $0.timeline == cluster.timeline } ?? true
    }
}
