import Foundation
import Synchronization

/// A private PostgreSQL server with its data in one folder, reachable only over a unix socket.
///
/// It never touches a cluster that it didn't make. If this process dies, a watcher beside the server notices that its pipe
/// closes, and stops the server. All calls block; make them off the event loops. Any thread.
public final class LocalCluster: Sendable {
    /// The folder of the unix socket, which clients use as host.
    public let socketDirectory: String
    /// The port number in the socket's name. The server doesn't use TCP.
    public let port: Int
    /// The superuser's role name: without a password; only this user of the operating system (and root) may connect as it.
    public let superuser: String

    let folder: ClusterFolder
    let programs: ServerPrograms
    private let settings: Settings
    private let server: Mutex<RunningServer?>

    /// The time limit of a start, in seconds; a server that replays a backup's log needs more.
    public static let startLimitSeconds = 60.0
    /// The maximum size of the log; a larger one is truncated at start.
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

    /// Makes the cluster if the folder is empty or missing, starts its server and waits until it accepts connections.
    ///
    /// First stops a server of an earlier process, and deletes its stale lock file. Throws `LocalPostgresError`, or
    /// Foundation's error for a folder that can't be made.
    public static func start(
        directory: String,
        settings: Settings = .durable,
        limitSeconds: Double = startLimitSeconds
    ) throws -> LocalCluster {
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
            try cluster.launch(limitSeconds: limitSeconds)
            return cluster
        } catch {
            close(folder.lockDescriptor)
            throw error
        }
    }

    /// Replaces a cluster's data, while no process runs it. The data that it had is kept beside the new one.
    ///
    /// - Parameters:
    ///   - directory: the cluster's folder, which is made if it is missing.
    ///   - write: writes the new data into an empty folder. If it throws, the cluster is as it was.
    /// - Returns: the folder with the former data; nil if there was none.
    public static func replaceData(directory: String, _ write: (String) throws -> Void) throws -> String? {
        let folder = try ClusterFolder.open(directory, user: try ServerUser.choose())
        defer { close(folder.lockDescriptor) }
        stopOrphan(of: folder)
        let files = FileManager.default
        let unfinished = folder.path + "/data.new"
        if files.fileExists(atPath: unfinished) { try files.removeItem(atPath: unfinished) }
        try files.createDirectory(atPath: unfinished, withIntermediateDirectories: false)
        do {
            try write(unfinished)
            try folder.user.ownAll(unfinished)
        } catch {
            try? files.removeItem(atPath: unfinished)
            throw error
        }
        var former: String?
        if files.fileExists(atPath: folder.data) {
            let path = "\(folder.data).before-\(Int(Date().timeIntervalSince1970))"
            try files.moveItem(atPath: folder.data, toPath: path)
            former = path
        }
        try files.moveItem(atPath: unfinished, toPath: folder.data)
        return former
    }

    /// Deletes a cluster's data. Throws while a process runs it, and for a folder that was not made here.
    public static func remove(directory: String) throws { try ClusterFolder.remove(directory) }

    /// Stops the server of a folder whose process has ended, and deletes the folder; leaves any other folder alone.
    public static func removeAbandoned(directory: String) {
        guard ClusterFolder.isAbandoned(directory), let user = try? ServerUser.choose(),
            let folder = try? ClusterFolder.open(directory, user: user)
        else { return }
        stopOrphan(of: folder)
        close(folder.lockDescriptor)
        try? ClusterFolder.remove(directory)
    }

    /// Undoes ``replaceData(directory:_:)``: the data that it put there is deleted.
    public static func putBack(_ former: String, directory: String) throws {
        let folder = try ClusterFolder.open(directory, user: try ServerUser.choose())
        defer { close(folder.lockDescriptor) }
        stopOrphan(of: folder)
        try FileManager.default.removeItem(atPath: folder.data)
        try FileManager.default.moveItem(atPath: former, toPath: folder.data)
    }

    /// Stops the server by a fast shutdown: sessions are ended, a checkpoint is written.
    public func stop() {
        server.withLock { server in
            server?.end(with: SIGINT)
            server = nil
        }
        SocketFolder.remove(socketDirectory, of: folder)
    }

    /// Kills the server and all its sessions with SIGKILL, like a crash.
    public func kill() {
        server.withLock { server in
            server?.kill()
            server = nil
        }
    }

    /// Kills the server and deletes its data, as the loss of its disk would.
    public func destroy() throws {
        kill()
        try FileManager.default.removeItem(atPath: folder.data)
    }

    /// Restarts the server, after a stop if it runs. The socket keeps its path.
    public func restart() throws {
        server.withLock { server in
            server?.end(with: SIGINT)
            server = nil
        }
        try launch(limitSeconds: Self.startLimitSeconds)
    }

    /// Whether the server's process is running.
    public var isRunning: Bool { server.withLock { $0?.isAlive ?? false } }

    /// The server's process, for tests that stop and continue it; nil if it doesn't run.
    public var processID: Int32? { server.withLock { $0?.processID } }

    private func initialize() throws {
        guard folder.majorVersion == nil else { return }
        // Made under another name first, so that a partly made folder is never taken for a cluster after we were killed.
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

    private func launch(limitSeconds: Double) throws {
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
            try started.waitUntilReady(limitSeconds: limitSeconds)
        } catch {
            started.end(with: SIGINT)
            throw error
        }
        server.withLock { $0 = started }
    }

    /// Stops a server that still runs in the folder: since we hold the folder's lock, its owner has ended.
    static func stopOrphan(of folder: ClusterFolder) {
        guard let file = PostmasterFile(dataFolder: folder.data) else { return }
        if file.isServer(of: folder.data) {
            RunningServer.end(processID: file.processID, signal: SIGINT)
        } else if Foundation.kill(file.processID, 0) == 0 {
            // Another program has the number now, which PostgreSQL would take for the server.
            unlink(folder.data + "/postmaster.pid")
        }
    }
}
