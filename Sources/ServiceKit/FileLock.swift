import Glibc

/// A lock among processes (`flock`), which ends with the process that has it.
public enum FileLock {
    /// How often a process tries to take a lock that another one has.
    static let tries = 50
    private static let pauseMicroseconds: UInt32 = 100_000

    /// Runs the body while no other process has the lock of this file, which is made if it is missing, and stays.
    ///
    /// - Parameter what: what is changed under the lock, for the error.
    /// - Throws: `FileError` if another process has it for five seconds, and the errors of the body.
    public static func locked<Outcome>(file: String, of what: String, _ body: () throws -> Outcome) throws -> Outcome {
        try locked(open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600), file, what, body)
    }

    /// Runs the body while no other process has the lock of this folder. Nothing is made in it.
    ///
    /// - Parameter what: what is changed under the lock, for the error.
    /// - Throws: `FileError` if another process has it for five seconds, and the errors of the body.
    public static func locked<Outcome>(folder: String, of what: String, _ body: () throws -> Outcome) throws -> Outcome
    {
        try locked(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), folder, what, body)
    }

    private static func locked<Outcome>(
        _ descriptor: Int32,
        _ path: String,
        _ what: String,
        _ body: () throws -> Outcome
    ) throws -> Outcome {
        guard descriptor >= 0 else { throw FileError.lastError("\(path) cannot be opened") }
        defer { close(descriptor) }
        var triesLeft = tries
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw FileError.lastError("\(path) cannot be locked") }
            triesLeft -= 1
            guard triesLeft > 0 else { throw FileError("\(what) is being changed by another run; try again") }
            usleep(pauseMicroseconds)
        }
        return try body()
    }
}
