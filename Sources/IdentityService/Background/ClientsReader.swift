import Dispatch
import JOSE
import Logging
import ServiceKit
import Synchronization

/// Reads the clients file again, every few seconds and on request, and puts changed clients to use. While it is faulty the current clients
/// stay in use.
final class ClientsReader: MetricsSource {
    /// The pause between two reads.
    static let interval: Duration = .seconds(5)

    /// The outcome of a read.
    private enum Outcome: String, CaseIterable {
        case changed
        case unchanged
        case failed
    }

    private let file: ClientsFile
    private let clients: ReplaceableValue<OAuthClients>
    /// Whether there is a key for RS256: keys are read again, too.
    private let signsRS256: @Sendable () -> Bool
    private let logger: Logger
    /// The file is read on this queue and never on an event loop; one read at a time, so that the newest takes effect last.
    private let queue = DispatchQueue(label: "vestibule.identity.clients")
    /// SHA-256 of the content that is in use.
    private let contentHash: Mutex<[UInt8]>
    private let lastFault = Mutex<String?>(nil)
    private let reads = CounterFamily(
        "vestibule_identity_clients_file_reads_total",
        help: "Reads of the clients file, by outcome.",
        labels: ["outcome"],
        values: Outcome.allCases.map { [$0.rawValue] }
    )

    /// A reader of a file whose clients are in use.
    init(
        _ file: ClientsFile,
        clients: ReplaceableValue<OAuthClients>,
        signsRS256: @escaping @Sendable () -> Bool,
        logger: Logger
    ) {
        self.signsRS256 = signsRS256
        self.file = file
        self.clients = clients
        self.logger = logger
        contentHash = Mutex(SHA256.hash(file.file.content.bytes))
    }

    /// Reads the file every few seconds, until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            if Task.isCancelled { return }
            await read()
        }
    }

    /// Reads the file now.
    func read() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.look()
                continuation.resume()
            }
        }
    }

    private func look() {
        do {
            let (content, new) = try file.reread(signsRS256: signsRS256())
            lastFault.withLock { $0 = nil }
            let hash = SHA256.hash(content.bytes)
            guard hash != contentHash.withLock({ $0 }) else { return count(.unchanged) }
            clients.replace(OAuthClients(new))
            contentHash.withLock { $0 = hash }
            count(.changed)
            logger.notice("clients read again", metadata: ["clients": "\(new.count)"])
        } catch {
            count(.failed)
            // Each error is logged once, and not every few seconds.
            let fault = "\(error)"
            let isNew = lastFault.withLock { last in
                defer { last = fault }
                return last != fault
            }
            if isNew { logger.error("clients not read again; the old ones stay", metadata: ["error": .string(fault)]) }
        }
    }

    private func count(_ outcome: Outcome) {
        guard let index = Outcome.allCases.firstIndex(of: outcome) else { return }
        reads[index].add()
    }

    /// Adds the metric of reads.
    func write(to text: inout MetricsText) { reads.write(to: &text) }
}
