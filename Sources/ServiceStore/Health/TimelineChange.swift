import FoundationEssentials
import Logging

/// That the database began another history of its data, and what of the former one it may not have. A pure value.
struct TimelineChange: Sendable, Hashable {
    /// The timeline before.
    let former: Int
    /// The one that is written now.
    let timeline: Int
    /// Whether the server confirmed commits only when a standby had them, when it was asked last.
    let wasConfirmed: Bool
    /// When the former timeline was seen last, and the new one first, in Unix milliseconds of this machine.
    let lastSeenMilliseconds: Int64
    let noticedMilliseconds: Int64

    /// A standby that didn't have everything may have taken over, so somebody has to act.
    var level: Logger.Level { wasConfirmed ? .warning : .error }

    static let message: Logger.Message =
        "the database has another timeline: a standby was promoted, or a backup was restored"

    /// What may be lost, since when, and what to do.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = [
            "former": "\(former)", "timeline": "\(timeline)", "former_seen": "\(Self.text(lastSeenMilliseconds))",
            "noticed": "\(Self.text(noticedMilliseconds))",
        ]
        if wasConfirmed {
            metadata["lost"] =
                "nothing, if the standby that confirmed each commit was promoted, and no backup was restored"
            metadata["otherwise"] = "\(command)"
        } else {
            metadata["lost"] = """
                perhaps what was acknowledged before former_seen and had not reached the promoted standby, or was newer than the backup: \
                sign-outs and ended sessions, used refresh and provider tokens, new accounts, and changes of profiles, numbers and groups
                """
            metadata["command"] = "\(command)"
        }
        return metadata
    }

    /// The new timeline may have been written before it was noticed, but not after that without us.
    private var command: String { "vestibule sessions end --before \(Self.text(noticedMilliseconds)) --confirm" }

    /// The time in whole seconds, rounded up.
    private static func text(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: (Double(milliseconds) / 1000).rounded(.up)).ISO8601Format()
    }
}
