import KeyRings
import Logging
import Models
import ServiceKit

/// The settings of a program that makes or checks proofs of callers.
public struct CallerProofSettings: Sendable {
    /// The folder of its keys.
    public let keysFolder: ConfigurationKey<String?>
    private let maker: String

    /// The settings of a service, whose keys are derived from identity's.
    public init(service: String) {
        let folder = "\(service)-keys"
        maker = "the folder \(folder) of those that `vestibule init` makes"
        keysFolder = .optionalPath(
            "VESTIBULE_\(service.uppercased())_KEYS_FOLDER",
            isRequired: true,
            help:
                "The folder of the keys under which identity proves to \(service) on whose behalf it is called: \(folder), which "
                + "`vestibule init` makes and `vestibule keys rotate` changes. It is read again every few seconds and at SIGHUP."
        )
    }

    /// Identity's settings.
    ///
    /// - Parameter keysFolder: the folder of all its own keys.
    public init(keysFolder: ConfigurationKey<String?>) {
        self.keysFolder = keysFolder
        maker = "the folder keys of those that `vestibule init` makes"
    }

    /// All of them.
    public var all: [any AnyConfigurationKey] { [keysFolder] }

    /// The fault of a configuration that names no folder.
    public var folderIsMissing: ConfigurationError {
        ConfigurationError(key: keysFolder.name, problem: "is required: \(maker)")
    }

    /// Returns the random keys of a kind in a folder, the current one first.
    ///
    /// - Throws: `ConfigurationErrors` that show no key.
    public func keys(
        _ folder: KeyFolder,
        _ kind: KeyKind = .proof,
        of service: String? = nil
    ) throws(ConfigurationErrors) -> (ring: KeyRing, keys: [[UInt8]]) {
        do throws(FileError) {
            guard let ring = try folder.read(kind, of: service) else {
                throw FileError("\(folder.file(kind)) is not there; `vestibule init` makes it")
            }
            var keys: [[UInt8]] = []
            for key in ring.keys { keys.append(try KeyKind.randomKey(key.text)) }
            return (ring, keys)
        } catch {
            let problem = "names a folder in which \(error.description)"
            throw ConfigurationErrors([ConfigurationError(key: keysFolder.name, problem: problem)])
        }
    }
}

/// Tells a service's methods on whose behalf they are called, by the keys that are in its folder now.
public typealias CurrentCallers = ReplaceableValue<ProvenCallers>

/// Where a service's keys of proofs are, and what they were when they were read first.
public struct CallerProofSource: Sendable {
    /// Tells on whose behalf methods are called, by those keys.
    public let callers: ProvenCallers
    /// Seals the service's cursors; nil for a service that has none.
    public let cursors: CursorSeal?
    private let rings: [KeyRing]
    private let program: KeyReader.Program
    private let settings: CallerProofSettings
    private let folder: KeyFolder

    /// Reads the folder that a configuration names; blocks meanwhile.
    ///
    /// - Parameter hasCursors: whether the service has cursors, and so keys of theirs.
    /// - Throws: `ConfigurationErrors` for a folder without keys of this service.
    public init(
        _ program: KeyReader.Program,
        _ settings: CallerProofSettings,
        _ configuration: Configuration,
        hasCursors: Bool = false
    ) throws(ConfigurationErrors) {
        guard let path = configuration[settings.keysFolder] else {
            throw ConfigurationErrors([settings.folderIsMissing])
        }
        self.program = program
        self.settings = settings
        folder = KeyFolder(path: path)
        let read = try settings.keys(folder, of: program.rawValue)
        let cursors = hasCursors ? try settings.keys(folder, .cursor, of: program.rawValue) : nil
        rings = [read.ring] + (cursors.map { [$0.ring] } ?? [])
        self.cursors = cursors.flatMap { CursorSeal(keys: $0.keys) }
        callers = ProvenCallers(service: program.rawValue, keys: read.keys.compactMap { CallerProofKey($0) })
    }

    /// What reads the folder again and replaces callers, and the seal of a service that has cursors, by those of its keys.
    public func reader(
        for callers: CurrentCallers,
        cursors: CurrentCursors? = nil,
        clock: WallClock,
        logger: Logger
    ) -> KeyReader {
        KeyReader(program: program, rings: rings, logger: logger) {
            let read = try settings.keys(folder, of: program.rawValue)
            let readCursors = cursors == nil ? nil : try settings.keys(folder, .cursor, of: program.rawValue)
            let seal = readCursors.flatMap { CursorSeal(keys: $0.keys) }
            let new = ProvenCallers(
                service: program.rawValue,
                keys: read.keys.compactMap { CallerProofKey($0) },
                clock: clock
            )
            let rings = [read.ring] + (readCursors.map { [$0.ring] } ?? [])
            return (
                rings,
                {
                    callers.replace(new)
                    if let seal { cursors?.replace(seal) }
                }
            )
        }
    }
}
