import Foundation

/// The operating system's user that the server runs as: PostgreSQL refuses to run as root.
struct ServerUser: Sendable {
    let userID: uid_t
    let groupID: gid_t
    let name: String?

    /// The current user; for root, `postgres` or else `nobody`.
    static func choose() throws(LocalPostgresError) -> ServerUser {
        if geteuid() != 0 { return ServerUser(userID: geteuid(), groupID: getegid(), name: name(of: geteuid())) }
        for candidate in ["postgres", "nobody"] {
            if let entry = getpwnam(candidate) {
                return ServerUser(userID: entry.pointee.pw_uid, groupID: entry.pointee.pw_gid, name: candidate)
            }
        }
        throw .serverUserMissing
    }

    /// The login name of a user; nil in a container that has no entry for it.
    static func name(of userID: uid_t) -> String? {
        getpwuid(userID).map { String(cString: $0.pointee.pw_name) }
    }

    /// Whether a child must switch to this user.
    var differsFromOurs: Bool { userID != geteuid() }

    /// The command line that runs `arguments` as this user, in a folder that it can certainly enter.
    func commandLine(_ arguments: [String]) -> [String] {
        let entered = ["/bin/sh", "-c", #"cd / && exec "$@""#, "sh"] + arguments
        guard differsFromOurs else { return entered }
        return ["/usr/bin/setpriv", "--reuid=\(userID)", "--regid=\(groupID)", "--clear-groups", "--"] + entered
    }

    /// Whether this user can enter the folder, which also depends on the permissions of its parents.
    func canEnter(_ folder: String) -> Bool {
        let command = commandLine(["/bin/sh", "-c", #"cd "$1""#, "sh", folder])
        return (try? ChildProcess.run(command))?.status == 0
    }

    /// Makes this user the owner of a data folder and all that is in it; PostgreSQL starts on no folder that others may enter.
    func ownAll(_ folder: String) throws(LocalPostgresError) {
        try own(folder, mode: 0o700)
        guard differsFromOurs else { return }
        let (status, output) = try ChildProcess.run(["/bin/chown", "-R", "\(userID):\(groupID)", folder])
        guard status == 0 else {
            throw .programFailed(program: "chown", status: status, output: String(output.suffix(600)))
        }
    }

    /// Makes this user the owner of a file or folder, and sets its mode.
    func own(_ path: String, mode: mode_t) throws(LocalPostgresError) {
        guard chmod(path, mode) == 0 else { throw .system(call: "chmod", path: path, errno: errno) }
        guard differsFromOurs else { return }
        guard chown(path, userID, groupID) == 0 else { throw .system(call: "chown", path: path, errno: errno) }
    }
}
