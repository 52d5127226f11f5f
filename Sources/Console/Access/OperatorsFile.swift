import Logging
import ServiceKit
import Synchronization

/// The operators file as it is now: read again a few seconds after a change, so that who is taken out is out, without a restart.
final class OperatorsFile: Sendable {
    /// The longest file, in bytes.
    static let bytesMax = 65_536
    /// How long a reading counts.
    private static let ageSecondsMax: Int64 = 5
    /// How long the last list that could be read counts while the file can't be. Then nobody is an operator.
    static let faultySecondsMax: Int64 = 60

    private struct State {
        var list: OperatorList
        var content: [UInt8]
        var readAt: ConsoleTime?
        /// Since when the file can't be used; nil while it can.
        var faultySince: ConsoleTime?

        func list(_ now: ConsoleTime) -> OperatorList {
            guard let since = faultySince, now.seconds(since: since) > faultySecondsMax else { return list }
            return .none
        }
    }

    private let file: ConfiguredFile
    private let state: Mutex<State>
    private let logger: Logger

    /// - Throws: what is wrong with the file, as a clause.
    init(_ file: ConfiguredFile, logger: Logger) throws(ConfigurationProblem) {
        self.file = file
        self.logger = logger
        let list = try OperatorList(file.content.bytes)
        state = Mutex(State(list: list, content: file.content.bytes))
    }

    /// The operators. While the file can't be read the last ones that could be stay for a minute; then there are none, since somebody may have
    /// been taken out.
    func current(_ now: ConsoleTime) -> OperatorList {
        state.withLock { state in
            if let readAt = state.readAt, now.seconds(since: readAt) < Self.ageSecondsMax { return state.list(now) }
            state.readAt = now
            do throws(ConfigurationProblem) {
                let content = try file.reread(bytesMax: Self.bytesMax).content.bytes
                guard content != state.content || state.faultySince != nil else { return state.list }
                state.list = try OperatorList(content)
                state.faultySince = nil
                state.content = content
                logger.notice("read the operators file again")
            } catch {
                if state.faultySince == nil { state.faultySince = now }
                logger.error("the operators file can't be used", metadata: ["problem": "\(error.text)"])
            }
            return state.list(now)
        }
    }
}
