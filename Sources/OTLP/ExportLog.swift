import Logging
import RPC

/// Logs the outcome of exports: the first failure, then one line per minute while they fail, and a line when they work again.
/// For one task.
struct ExportLog {
    /// The minimum time between two lines about failures.
    static let silence: Duration = .seconds(60)
    /// The collector's messages are cut to this number of characters.
    static let messageLengthMax = 200

    private let logger: Logger
    private var isFailing = false
    private var silentUntil: Deadline?
    private var untold = 0

    init(_ logger: Logger) { self.logger = logger }

    /// A batch was lost.
    mutating func failed(_ error: RPCError, spanCount: Int) {
        isFailing = true
        untold += spanCount
        warn("spans could not be exported", ["code": "\(error.code)", "problem": .string(Self.cut(error.message))])
    }

    /// The collector accepted a batch, with a message.
    mutating func partlyTaken(rejectedCount: Int64, message: String) {
        untold += Int(clamping: rejectedCount)
        warn("the collector refused spans, or warns", ["problem": .string(Self.cut(message))])
    }

    /// The collector accepted a batch.
    mutating func succeeded() {
        guard isFailing else { return }
        isFailing = false
        silentUntil = nil
        logger.notice("spans are exported again")
    }

    private mutating func warn(_ text: Logger.Message, _ facts: Logger.Metadata) {
        if let silentUntil, !silentUntil.hasPassed { return }
        silentUntil = .after(Self.silence)
        logger.warning(text, metadata: facts.merging(["spans": .stringConvertible(untold)]) { fact, _ in fact })
        untold = 0
    }

    private static func cut(_ text: String) -> String { String(text.prefix(messageLengthMax)) }
}
