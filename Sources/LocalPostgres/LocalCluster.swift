import Foundation
import Synchronization

/// A private PostgreSQL server with its data in a folder of its own, reachable over one unix socket only.
///
/// It never touches a cluster that it didn't make. If this process dies without a word, a watcher beside the server
/// sees its pipe close and ends the server too. All calls block; make them off the event loops. Any thread.
public final class LocalCluster: Sendable {
    /// The folder of the unix socket: give it to clients as host.
    public let socketDirectory: String
    /// The number in the socket's name. There is no TCP.
    public let port: Int
    /// The superuser's role name: no password, but only this user of the operating system (and root) may be it.
    public let superuser: String

    let folder: ClusterFolder
    let programs: ServerPrograms
    private let settings: Settings
    private let server: Mutex<RunningServer?>

    private static let startLimitSeconds = 60.0
    /// A log larger than this is begun anew at start.
    private static let logBytesMax = 10 * 1024 * 1024

    private init(
        folder: ClusterFolder,
        programs: ServerPrograms,
        settings: Settings,
        socketDirectory: String,
        port: Int,
        superuser: String
    ) {
        self.folder = folder
        self.programs = programs
        self.settings = settings
        self.socketDirectory = socketDirectory
        self.port = port
        self.superuser = superuser
        server = Mutex(nil)
    }

    deinit {
        stop()
        close(folder.lockDescriptor)
    }

    /// Makes the cluster if the folder is empty or absent, starts its server and waits until it accepts.
    ///
    /// What an earlier process left behind (a server still running, a stale lock file) is cleared away first. Throws
    /// `LocalPostgresError`, or Foundation's error for a folder that can't be made.
    public static func start(directory: String, settings: Settings = .durable) throws -> LocalCluster {
        let user = try ServerUser.choose()
        let folder = try ClusterFolder.open(directory, user: user)
        do {
            let programs = try ServerPrograms.find(majorVersion: folder.majorVersion)
            stopOrphan(of: folder)
            let cluster = LocalCluster(
                folder: folder,
                programs: programs,
                settings: settings,
                socketDirectory: try SocketFolder.make(in: folder, port: 5432),
                port: 5432,
                superuser: "postgres"
            )
            try cluster.initialize()
            try cluster.launch()
            return cluster
        } catch {
            close(folder.lockDescriptor)
            throw error
        }
    }

    /// Forgets a cluster's data. Refuses while a process runs it, and for a folder that was not made here.
    public static func remove(directory: String) throws { try ClusterFolder.remove(directory) }

    /// Ends the server of a folder whose process is gone, and removes the folder; leaves any other folder alone.
    public static func removeAbandoned(directory: String) {
        guard ClusterFolder.isAbandoned(directory), let user = try? ServerUser.choose(),
            let folder = try? ClusterFolder.open(directory, user: user)
        else { return }
        stopOrphan(of: folder)
        close(folder.lockDescriptor)
        try? ClusterFolder.remove(directory)
    }

    /// Ends the server in order (a fast shutdown: sessions are ended, a checkpoint is written).
    public func stop() {
        server.withLock { server in
            server?.end(with: SIGINT)
            server = nil
        }
        SocketFolder.remove(socketDirectory, of: folder)
    }

    /// Ends the server and all its sessions with SIGKILL, as a crash would.
    public func kill() {
        server.withLock { server in
            server?.kill()
            server = nil
        }
    }

    /// Starts the server again, after a stop in order if it runs. The socket stays where it was.
    public func restart() throws {
        server.withLock { server in
            server?.end(with: SIGINT)
            server = nil
        }
        try launch()
    }

    /// Whether the server's process is there.
    public var isRunning: Bool { server.withLock { $0?.isAlive ?? false } }

    /// The server's process, for tests that stop and continue it; nil if it doesn't run.
    public var processID: Int32? { server.withLock { $0?.processID } }

    private func initialize() throws {
        guard folder.majorVersion == nil else { return }
        // Made under another name first: a folder half made, because we were killed, is never taken for a cluster.
        let unfinished = folder.path + "/data.new"
        try? FileManager.default.removeItem(atPath: unfinished)
        try FileManager.default.createDirectory(atPath: unfinished, withIntermediateDirectories: false)
        try folder.user.own(unfinished, mode: 0o700)
        var arguments = [
            programs.initdb, "--pgdata=\(unfinished)", "--username=\(superuser)", "--encoding=UTF8",
            "--locale=C.UTF-8", "--auth-local=peer", "--auth-host=reject", "--no-instructions",
        ]
        if !settings.isDurable { arguments.append("--no-sync") }
        let (status, output) = try ChildProcess.run(folder.user.commandLine(arguments))
        guard status == 0 else {
            throw LocalPostgresError.programFailed(
                program: "initdb",
                status: status,
                output: String(output.suffix(600))
            )
        }
        try FileManager.default.moveItem(atPath: unfinished, toPath: folder.data)
    }

    private func launch() throws {
        let ourName = ServerUser.name(of: geteuid())
        if !FileManager.default.fileExists(atPath: socketDirectory) {
            try FileManager.default.createDirectory(atPath: socketDirectory, withIntermediateDirectories: false)
            try folder.user.own(socketDirectory, mode: 0o700)
        }
        try folder.write(
            settings.configurationText(folder: folder, socketFolder: socketDirectory, port: port),
            to: folder.configuration
        )
        try folder.write(
            Self.hostAccessText(superuser: superuser, callerHasName: ourName != nil),
            to: folder.hostAccess
        )
        try folder.write(
            Self.userMapText(superuser: superuser, names: [ourName, folder.user.name].compactMap { $0 }),
            to: folder.userMap
        )
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.log)
        if let size = attributes?[.size] as? Int, size > Self.logBytesMax {
            try FileManager.default.removeItem(atPath: folder.log)
        }
        let started = try RunningServer.start(programs: programs, folder: folder)
        do {
            try started.waitUntilReady(limitSeconds: Self.startLimitSeconds)
        } catch {
            started.end(with: SIGINT)
            throw error
        }
        server.withLock { $0 = started }
    }

    /// We hold the folder's lock, so a server that still runs there has lost its owner.
    static func stopOrphan(of folder: ClusterFolder) {
        guard let file = PostmasterFile(dataFolder: folder.data) else { return }
        if file.isServer(of: folder.data) {
            RunningServer.end(processID: file.processID, signal: SIGINT)
        } else if Foundation.kill(file.processID, 0) == 0 {
            // The number was given to another program since; PostgreSQL would believe that one to be the server.
            unlink(folder.data + "/postmaster.pid")
        }
    }
}
