import Dispatch
import Logging
import ServiceKit
import Synchronization

/// Reads a program's folder of keys again, every few seconds and when it is asked to, and has what changed used. A folder that
/// can't be used changes nothing.
public final class KeyReader: MetricsSource {
    /// What a look found: the folder's rings, and what has their keys used.
    public typealias Found = (rings: [KeyRing], use: @Sendable () -> Void)

    /// A program that has a folder of keys.
    public enum Program: String, Sendable {
        case identity
        case profile
        case invites

        fileprivate var looksName: StaticString {
            switch self {
            case .identity: "vestibule_identity_key_folder_reads_total"
            case .profile: "vestibule_profile_key_folder_reads_total"
            case .invites: "vestibule_invites_key_folder_reads_total"
            }
        }

        fileprivate var keysName: StaticString {
            switch self {
            case .identity: "vestibule_identity_own_keys"
            case .profile: "vestibule_profile_own_keys"
            case .invites: "vestibule_invites_own_keys"
            }
        }
    }

    /// The pause between two looks.
    public static let interval: Duration = .seconds(5)

    /// What came of a look at the folder.
    enum Outcome: Int, CaseIterable {
        /// It holds other keys, which are in use now.
        case changed
        /// It holds those that are in use.
        case unchanged
        /// It can't be used; the keys in use stay.
        case failed

        fileprivate var label: String {
            switch self {
            case .changed: "changed"
            case .unchanged: "unchanged"
            case .failed: "failed"
            }
        }
    }

    private let program: Program
    private let find: @Sendable () throws -> Found
    private let logger: Logger
    /// Files are read here and never on an event loop; one look at a time, so that no older one is the last to take effect.
    private let queue: DispatchQueue
    private let rings: Mutex<[KeyRing]>
    private let lastFault = Mutex<String?>(nil)
    private let looks: CounterFamily

    /// - Parameters:
    ///   - program: whose folder it is, which the names of metrics say.
    ///   - rings: those whose keys are in use.
    ///   - find: reads the folder; blocks meanwhile, and may throw.
    public init(
        program: Program,
        rings: [KeyRing],
        logger: Logger,
        find: @escaping @Sendable () throws -> Found
    ) {
        self.program = program
        self.rings = Mutex(rings)
        self.find = find
        self.logger = logger
        queue = DispatchQueue(label: "vestibule.\(program.rawValue).keys")
        looks = CounterFamily(
            program.looksName,
            help: "Looks at the folder of our own keys, by outcome.",
            labels: ["outcome"],
            values: Outcome.allCases.map { [$0.label] }
        )
    }

    /// Looks every few seconds, until the task is cancelled.
    public func run() async {
        while !Task.isCancelled {
            do {
                try await Task.sleep(for: Self.interval)
            } catch {
                return
            }
            await read()
        }
    }

    /// Looks now.
    public func read() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.look()
                continuation.resume()
            }
        }
    }

    private func look() {
        do {
            let found = try find()
            // Else a folder that is not there for a moment would have other keys take their place, such as those of files.
            let kinds = Set(found.rings.map(\.kind))
            if let gone = rings.withLock({ $0 }).first(where: { !kinds.contains($0.kind) }) {
                throw FileError("the folder has no \(gone.kind) keys any more")
            }
            lastFault.withLock { $0 = nil }
            guard found.rings != rings.withLock({ $0 }) else { return looks[Outcome.unchanged.rawValue].add() }
            found.use()
            rings.withLock { $0 = found.rings }
            looks[Outcome.changed.rawValue].add()
            let told = found.rings.map(\.description).joined(separator: "; ")
            logger.notice("keys read again", metadata: ["keys": .string(told)])
        } catch {
            looks[Outcome.failed.rawValue].add()
            // Once for each fault, and not every few seconds.
            let fault = "\(error)"
            let isNew = lastFault.withLock { last in
                defer { last = fault }
                return last != fault
            }
            if isNew { logger.error("keys not read again; the former stay", metadata: ["error": .string(fault)]) }
        }
    }

    /// Adds the family, and how many keys there are in each state.
    public func write(to text: inout MetricsText) {
        looks.write(to: &text)
        text.family(
            program.keysName,
            .gauge,
            help: "Our own keys in the folder, by kind and state. All programs must agree before another step.",
            rings.withLock { $0 }.flatMap { ring in
                KeyRing.State.allCases.map { state in
                    (
                        [("kind", ring.kind), ("state", state.rawValue)],
                        Double(ring.keys.count { $0.state == state })
                    )
                }
            }
        )
    }
}
