import Dispatch
import Logging
import ServiceKit
import Synchronization

/// Reads a program's folder of keys again, every few seconds and on request, and puts changed keys to use. If the folder can't
/// be read, the current keys stay in use.
public final class KeyReader: MetricsSource {
    /// The result of a read: the folder's rings, and a function that puts their keys to use.
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

        fileprivate var sinceName: StaticString {
            switch self {
            case .identity: "vestibule_identity_own_keys_since_timestamp_seconds"
            case .profile: "vestibule_profile_own_keys_since_timestamp_seconds"
            case .invites: "vestibule_invites_own_keys_since_timestamp_seconds"
            }
        }
    }

    /// The pause between two reads.
    public static let interval: Duration = .seconds(5)

    /// The outcome of a read of the folder.
    enum Outcome: Int, CaseIterable {
        /// The keys changed; the new ones are in use now.
        case changed
        /// The keys didn't change.
        case unchanged
        /// The folder can't be read; the current keys stay in use.
        case failed

        /// The value of the metric's label.
        fileprivate var label: String {
            switch self {
            case .changed: "changed"
            case .unchanged: "unchanged"
            case .failed: "failed"
            }
        }
    }

    private let program: Program
    /// Reads the folder.
    private let find: @Sendable () throws -> Found
    private let logger: Logger
    /// Files are read on this queue and never on an event loop; one read at a time, so that the newest takes effect last.
    private let queue: DispatchQueue
    private let rings: Mutex<[KeyRing]>
    private let lastFault = Mutex<String?>(nil)
    private let looks: CounterFamily

    /// - Parameters:
    ///   - program: the folder's program, for the names of the metrics.
    ///   - rings: the rings whose keys are in use.
    ///   - find: reads the folder; it blocks, and may throw.
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
            help: "Reads of the folder of our own keys, by outcome.",
            labels: ["outcome"],
            values: Outcome.allCases.map { [$0.label] }
        )
    }

    /// Reads the folder every few seconds, until the task is cancelled.
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

    /// Reads the folder now.
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
            // Without this check, other keys such as those of key files would replace these while the folder is missing.
            let kinds = Set(found.rings.map(\.kind))
            if let gone = rings.withLock({ $0 }).first(where: { !kinds.contains($0.kind) }) {
                throw FileError("the folder no longer has \(gone.kind) keys")
            }
            lastFault.withLock { $0 = nil }
            guard found.rings != rings.withLock({ $0 }) else { return looks[Outcome.unchanged.rawValue].add() }
            found.use()
            rings.withLock { $0 = found.rings }
            looks[Outcome.changed.rawValue].add()
            let description = found.rings.map(\.description).joined(separator: "; ")
            logger.notice("keys read again", metadata: ["keys": .string(description)])
        } catch {
            looks[Outcome.failed.rawValue].add()
            // Each error is logged once, and not every few seconds.
            let fault = "\(error)"
            let isNew = lastFault.withLock { last in
                defer { last = fault }
                return last != fault
            }
            if isNew { logger.error("keys not read again; the old ones stay", metadata: ["error": .string(fault)]) }
        }
    }

    /// Adds the metric of reads, and the number and the age of keys in each state.
    public func write(to text: inout MetricsText) {
        looks.write(to: &text)
        let rings = rings.withLock { $0 }
        text.family(
            program.keysName,
            .gauge,
            help: "Our own keys in the folder, by kind and state. All programs must agree before another step.",
            rings.flatMap { ring in
                KeyRing.State.allCases.map { state in
                    (
                        [("kind", ring.kind), ("state", state.rawValue)],
                        Double(ring.keys.count { $0.state == state })
                    )
                }
            }
        )
        text.family(
            program.sinceName,
            .gauge,
            help: "Since when the oldest of our own keys in a state has been in it, in seconds since 1970, by kind.",
            rings.flatMap { ring in
                KeyRing.State.allCases.compactMap { state in
                    let since = ring.keys.filter { $0.state == state }.map(\.sinceSeconds).min()
                    return since.map { ([("kind", ring.kind), ("state", state.rawValue)], Double($0)) }
                }
            }
        )
    }
}
