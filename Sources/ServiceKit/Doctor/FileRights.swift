import Glibc

/// Who may read a file with a secret.
struct FileRights: Sendable, Hashable {
    /// The file's permissions.
    var mode: mode_t
    /// Whether this process's user owns it. Another's file is one that a container was given, and its folder's rights count,
    /// which can't be seen from inside.
    var isOwn: Bool
    /// Whether others may enter all folders on the way to it.
    var isReached: Bool

    /// The rights of a file; nil if it isn't there.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        mode = status.st_mode & 0o777
        isOwn = status.st_uid == geteuid()
        isReached = true
        var folder = path
        while isReached, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
            folder = String(folder[..<slash])
            if stat(folder, &status) == 0, status.st_mode & 0o001 == 0 { isReached = false }
        }
    }

    init(mode: mode_t, isOwn: Bool, isReached: Bool) {
        self.mode = mode
        self.isOwn = isOwn
        self.isReached = isReached
    }

    /// What is wrong with them.
    func finding(_ key: String, _ path: String) -> Finding? {
        guard isOwn, isReached else { return nil }
        if mode & 0o002 != 0 {
            return Finding(
                .failure,
                key,
                "names \(path), which any user of this machine may write",
                mend: "chmod 600 \(path)"
            )
        }
        guard mode & 0o004 != 0 else { return nil }
        return Finding(
            .warning,
            key,
            "names \(path), which any user of this machine may read",
            mend: "chmod 600 \(path)"
        )
    }
}
