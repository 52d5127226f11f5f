import Glibc
import JOSE
import KeyRings
import LocalPostgres
import ServiceKit

/// The folder of the local stack: secrets, PostgreSQL's data, logs, and a lock that one running stack holds.
public struct StackFolder: Sendable {
    /// The folder.
    public let path: String

    /// A folder, which need not exist yet.
    public init(path: String) { self.path = path }

    var secrets: String { path + "/secrets" }
    var logs: String { path + "/logs" }
    var crashes: String { path + "/crashes" }
    var database: String { path + "/postgres" }
    var simulatorState: String { secrets + "/simulator-state.json" }
    var simulatorClients: String { path + "/simulator-clients.json" }
    var providers: String { path + "/providers.json" }
    var clients: String { path + "/clients.json" }
    var operators: String { path + "/operators.json" }
    var operatorEnvironment: String { path + "/" + OperatorEnvironment.fileName }
    var supabaseServiceKey: String { secrets + "/supabase-service-key" }
    /// Identity's own keys, and the keys that are derived from them for services.
    var keys: KeyFolders { KeyFolders(secrets: secrets) }
    var addressKey: String { secrets + "/address-key" }
    var backupPassword: String { secrets + "/backup-database-password" }
    /// Where `vestibule backup` writes to, unless it is configured. It stays when the stack's data is deleted.
    var backups: String { path + "/backup" }
    func databasePassword(of service: String) -> String { secrets + "/\(service)-database-password" }
    func databaseOwnerPassword(of service: String) -> String { secrets + "/\(service)-database-owner-password" }

    func appleKey(_ number: Int) -> String { secrets + "/" + Self.appleKeyName(number) }
    static func appleKeyName(_ number: Int) -> String { "apple-key-\(number).p8" }
    static let googleSecretName = "google-client-secret"
    static let facebookSecretName = "facebook-client-secret"

    /// A path for people: relative to the current folder, if it lies there.
    static func shown(_ path: String) -> String {
        guard let current = getcwd(nil, 0) else { return path }
        defer { free(current) }
        let prefix = String(cString: current) + "/"
        return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    }

    /// Makes the folder and missing secrets, each in a file that only this user can read. Existing files stay as they are.
    ///
    /// - Returns: the new files.
    public func initialize() throws -> [String] {
        try makeFolder(path, mode: 0o755)
        try makeFolder(secrets, mode: 0o700)
        try makeFolder(logs, mode: 0o755)
        try makeFolder(crashes, mode: 0o700)
        var made: [String] = []
        for entry in try keys.initialize(folderMode: 0o700, mode: 0o600, nowSeconds: Int64(time(nil)))
        where entry.change == .made { made.append("\(secrets)/\(entry.name)") }
        if try makeFile(addressKey, { SecureRandom.bytes(32) }) { made.append(addressKey) }
        for number in 1...DevelopmentProviders.appleKeyCount {
            let file = appleKey(number)
            if try makeFile(file, { Array(try SigningKey.generateP256().pem().utf8) }) { made.append(file) }
        }
        for file in [
            secrets + "/" + Self.googleSecretName, secrets + "/" + Self.facebookSecretName, supabaseServiceKey,
        ] {
            if try makeFile(file, { Array(Base64URL.encode(SecureRandom.bytes(32)).utf8) }) { made.append(file) }
        }
        for service in StackKeys.services {
            for file in [databasePassword(of: service.program), databaseOwnerPassword(of: service.program)] {
                if try makeFile(file, { Array(Base64URL.encode(SecureRandom.bytes(24)).utf8) }) { made.append(file) }
            }
        }
        if try makeFile(backupPassword, { Array(Base64URL.encode(SecureRandom.bytes(24)).utf8) }) {
            made.append(backupPassword)
        }
        return made
    }

    /// Writes the files that depend on the configuration and the secrets, at each start: the providers file, the simulator's file of
    /// the clients in it, the file of our own clients, and that of the console's operators.
    func write(_ providers: DevelopmentProviders) throws {
        var keys: [String] = []
        for number in 1...DevelopmentProviders.appleKeyCount {
            let pem = String(decoding: try FileBytes.read(appleKey(number), bytesMax: 4096), as: UTF8.self)
            keys.append(try SigningKey(pem: pem).verificationKey.pem())
        }
        let simulated = DevelopmentProviders.clients(
            applePublicKeys: keys,
            googleSecret: try text("\(secrets)/\(Self.googleSecretName)"),
            facebookSecret: try text("\(secrets)/\(Self.facebookSecretName)")
        )
        try rewrite(self.providers, providers.file)
        try rewrite(self.clients, DevelopmentClients.file)
        try rewrite(operators, DevelopmentOperators.file)
        // It contains secrets, if only simulated ones.
        try rewrite(simulatorClients, simulated)
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try FileBytes.read(path, bytesMax: 1024), as: UTF8.self)
    }

    private func rewrite(_ path: String, _ object: JSONObject) throws {
        let bytes = object.serialized() + [UInt8(ascii: "\n")]
        if try !makeFile(path, { bytes }) { try FileBytes.rewrite(path, mode: 0o600, bytes) }
    }

    /// Takes the lock of a running stack. It is released when the result is closed or the process ends.
    func lock() throws -> Int32 {
        try makeFolder(path, mode: 0o755)
        let file = path + "/lock"
        let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.systemError("open", file) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw StackError("it is already running: another `vestibule run` uses \(path)")
        }
        return descriptor
    }

    /// Deletes all data, secrets and logs. Throws if a running stack uses them.
    public func clean() throws {
        guard access(path, F_OK) == 0 else { return }
        let lock = try lock()
        defer { close(lock) }
        try LocalCluster.remove(directory: database)
        for folder in keys.all.map(\.path) + [secrets, logs, crashes] { try removeFolder(folder) }
        for file in [providers, clients, operators, simulatorClients, operatorEnvironment, path + "/lock"] {
            unlink(file)
        }
        // The folder stays if it has other files.
        rmdir(path)
    }

    private func makeFolder(_ path: String, mode: mode_t) throws {
        guard mkdir(path, mode) == 0 || errno == EEXIST else { throw Self.systemError("mkdir", path) }
    }

    private func makeFile(_ path: String, _ content: () throws -> [UInt8]) throws -> Bool {
        try FileBytes.create(path, mode: 0o600, content)
    }

    /// Deletes a folder of plain files.
    private func removeFolder(_ path: String) throws {
        guard let stream = opendir(path) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { unlink(path + "/" + name) }
        }
        guard rmdir(path) == 0 else { throw Self.systemError("rmdir", path) }
    }

    private static func systemError(_ call: String, _ path: String) -> StackError {
        StackError("\(call) \(path): \(String(cString: strerror(errno)))")
    }
}
