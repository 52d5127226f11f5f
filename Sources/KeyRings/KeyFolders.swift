import Glibc
import JOSE
import ServiceKit

/// The folders of keys in a folder of secrets: `keys` for identity, and one for each service with derived keys,
/// `profile-keys` and so on. Each program gets only its own folder.
///
/// A service's ring always matches identity's: the same ids, states and times. A run that changes identity's ring changes
/// the services' rings too, under one lock, and first repairs what a killed run left unfinished.
public struct KeyFolders: Sendable {
    /// The outcome for a file.
    public enum Change: Sendable, Hashable {
        /// It wasn't there.
        case made
        /// It stays as it was.
        case kept
        /// It didn't match identity's keys, and was written again.
        case renewed
    }

    /// A file and its outcome.
    public struct Entry: Sendable, Hashable {
        /// Its name in the folder of secrets.
        public let name: String
        /// The outcome.
        public let change: Change
    }

    /// The folder of secrets.
    public let secrets: String

    /// The folders in an existing folder of secrets.
    public init(secrets: String) { self.secrets = secrets }

    /// Identity's folder.
    public var own: KeyFolder { KeyFolder(path: "\(secrets)/keys") }

    /// The folder of a service with derived keys.
    public func folder(of service: String) -> KeyFolder { KeyFolder(path: "\(secrets)/\(service)-keys") }

    /// All folders.
    public var all: [KeyFolder] { [own] + KeyKind.all.flatMap { $0.derivedFor.map(folder(of:)) } }

    /// Makes missing folders and rings: from the single key files of older versions if there are any, else with a new key each.
    /// Existing files stay as they are, but for derived rings that don't match identity's.
    ///
    /// - Parameters:
    ///   - folderMode: the folders' permissions.
    ///   - mode: the permissions of new files.
    ///   - nowSeconds: the current time, in Unix seconds.
    /// - Returns: all files, in order.
    public func initialize(folderMode: mode_t, mode: mode_t, nowSeconds: Int64) throws -> [Entry] {
        guard mkdir(own.path, folderMode) == 0 || errno == EEXIST, chmod(own.path, folderMode) == 0 else {
            throw FileError.lastError("\(own.path) cannot be made")
        }
        return try own.locked {
            try KeyKind.all.flatMap { kind in
                let held = try own.read(kind)
                let ring = try held ?? formerRing(kind, nowSeconds: nowSeconds) ?? .new(kind, nowSeconds: nowSeconds)
                if held == nil { try own.replace(kind, with: ring, mode: mode) }
                let entry = Entry(name: name(of: own, kind), change: held == nil ? .made : .kept)
                return try [entry] + mend(kind, ring, nowSeconds: nowSeconds).entries
            }
        }
    }

    // Derived rings; all functions run under the lock of identity's folder.

    /// Makes each service's ring match identity's, whatever it contains.
    ///
    /// A next key counts as published from the time when all services have it: it must not be used before all programs had
    /// the time to read it.
    func mend(_ kind: KeyKind, _ ring: KeyRing, nowSeconds: Int64) throws -> (ring: KeyRing, entries: [Entry]) {
        var keys = ring.keys
        if let index = keys.firstIndex(where: { $0.state == .next }) {
            for service in kind.derivedFor {
                let held = held(kind, service)
                let published = publishedSeconds(kind, keys[index], in: held, ring, nowSeconds: nowSeconds)
                keys[index].sinceSeconds = max(keys[index].sinceSeconds, published)
            }
        }
        let mended = try KeyRing(kind: kind.name, keys: keys)
        let entries = try derive(kind, from: mended)
        if mended != ring { try own.replace(kind, with: mended) }
        return (mended, entries)
    }

    /// Writes a service's ring if it doesn't match identity's.
    @discardableResult
    func derive(_ kind: KeyKind, from ring: KeyRing) throws -> [Entry] {
        try kind.derivedFor.map { service in
            let folder = folder(of: service)
            let derived = try ring.derived(kind, for: service)
            let held = held(kind, service)
            let isThere = access(folder.file(kind), F_OK) == 0
            if held != derived {
                try make(folder)
                try folder.replace(kind, with: derived, mode: mode(of: own.file(kind)))
            }
            let change: Change = held == derived ? .kept : isThere ? .renewed : .made
            return Entry(name: name(of: folder, kind), change: change)
        }
    }

    /// Since when a service has had identity's next key.
    private func publishedSeconds(
        _ kind: KeyKind,
        _ key: KeyRing.Key,
        in held: KeyRing?,
        _ ring: KeyRing,
        nowSeconds: Int64
    ) -> Int64 {
        guard let known = held?.keys.first(where: { $0.id == key.id }),
            let derived = try? ring.derived(kind, for: held?.service ?? "").keys.first(where: { $0.id == key.id }),
            known.text == derived.text
        else { return nowSeconds }
        // It is current there: a run was killed while it made the key current, which it only begins when all programs have it.
        return known.state == .next ? known.sinceSeconds : key.sinceSeconds
    }

    /// A service's ring; nil if there is no usable one.
    private func held(_ kind: KeyKind, _ service: String) -> KeyRing? {
        try? folder(of: service).read(kind, of: service)
    }

    /// Makes a missing folder, with the permissions of identity's.
    private func make(_ folder: KeyFolder) throws(FileError) {
        if access(folder.path, F_OK) == 0 { return }
        let mode = mode(of: own.path)
        guard mkdir(folder.path, mode) == 0, chmod(folder.path, mode) == 0 else {
            throw .lastError("\(folder.path) cannot be made")
        }
    }

    /// The permissions of an existing file.
    private func mode(of path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0o600
    }

    private func name(of folder: KeyFolder, _ kind: KeyKind) -> String {
        String(folder.file(kind).dropFirst(secrets.count + 1))
    }

    // Key files of older versions.

    /// The ring of an older version's key files: the first file's key is current, the other's is retired. The first counts
    /// from when its file was written. The other counts from now, since it may have been in use until now.
    private func formerRing(_ kind: KeyKind, nowSeconds: Int64) throws -> KeyRing? {
        guard let former = kind.former else { return nil }
        var keys: [KeyRing.Key] = []
        for (name, state) in [(former.current, KeyRing.State.current), (former.other, .retired)] {
            let file = "\(secrets)/\(name)"
            var status = stat()
            guard stat(file, &status) == 0, status.st_size > 0 else {
                // Without a current key the other one doesn't count either.
                if keys.isEmpty { return nil }
                continue
            }
            let since = state == .retired ? nowSeconds : Int64(status.st_mtim.tv_sec)
            let key: KeyRing.Key
            do throws(FileError) {
                let text = try former.text(FileBytes.read(file, bytesMax: 16_384))
                key = KeyRing.Key(
                    id: try kind.id(text),
                    state: state,
                    sinceSeconds: since,
                    text: state == .retired ? try kind.verifying(text) : text
                )
            } catch {
                throw FileError("\(file) \(error.description)")
            }
            if !keys.contains(where: { $0.id == key.id }) { keys.append(key) }
        }
        return try KeyRing(kind: kind.name, keys: keys)
    }
}

extension KeyRing.Key {
    /// A new key of a kind.
    static func new(_ kind: KeyKind, _ state: KeyRing.State, nowSeconds: Int64) throws -> KeyRing.Key {
        let text = try kind.make()
        return KeyRing.Key(id: try kind.id(text), state: state, sinceSeconds: nowSeconds, text: text)
    }
}

extension KeyRing {
    /// A ring with one new key.
    static func new(_ kind: KeyKind, nowSeconds: Int64) throws -> KeyRing {
        try KeyRing(kind: kind.name, keys: [.new(kind, .current, nowSeconds: nowSeconds)])
    }

    /// Derives a service's ring from identity's ring of random keys.
    ///
    /// - Throws: `FileError` for an invalid key.
    func derived(_ derivation: KeyKind, for service: String) throws(FileError) -> KeyRing {
        var keys = keys
        for index in keys.indices {
            guard let key = derivation.derive(try KeyKind.randomKey(keys[index].text), service) else {
                throw FileError("has a key from which none can be derived")
            }
            keys[index].text = Base64URL.encode(key)
        }
        return try KeyRing(kind: kind, service: service, keys: keys)
    }
}
