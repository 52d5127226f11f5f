import API
import JOSE
import RPCTransport
import ServiceKit
import Synchronization

/// Identity's answers about tokens (CheckSession) that this gateway uses again, so that most requests need no call to identity.
///
/// An answer is used for as long as identity says that it is good, which is a minute at most and never longer than the token or its session,
/// and only while the gateway hears which sessions end: the news must be younger than ``newsAgeMax``. Else identity is asked, as it is about
/// tokens that identity wants to be asked about each time. The gateway verifies no signature: identity said what the token is.
///
/// Each loop has answers of its own, so that none waits for another; the changes that make them worthless are shared (``SessionChanges``).
final class SessionAnswers: Sendable {
    /// How old the news of ended sessions may be.
    static let newsAgeMax: Duration = .milliseconds(250)
    /// How often identity is asked to send something.
    static let heartbeat: Duration = .milliseconds(100)
    /// The longest that an answer is used, whatever identity says.
    static let goodForMax: Duration = .seconds(60)
    /// Tokens in each of a loop's two generations: at most about 8 MB a loop.
    static let capacity = 2_048

    /// An answer. Belongs to one loop.
    private final class Answer {
        let response: IdentityV1.CheckSessionResponse
        let askedAt: ContinuousClock.Instant
        let goodUntil: ContinuousClock.Instant
        /// No change up to this one is about it.
        var number: UInt64

        init(_ response: IdentityV1.CheckSessionResponse, _ asking: Asking, goodFor: Duration) {
            self.response = response
            askedAt = asking.at
            goodUntil = asking.at + goodFor
            number = asking.number
        }
    }

    /// A class, so that a change happens in place and not on a copy.
    private final class Box {
        var answers = VerifiedTokenCache<Answer>(capacity: SessionAnswers.capacity)
    }

    /// What the server of the stream judges by. Another server may not know of it yet, and its answers aren't kept then.
    private struct JudgedBy {
        var keysID: [UInt8] = []
        var sessionsFromMilliseconds = Int64.min
    }

    let changes: SessionChanges
    /// For how long after the last news answers may be used while identity doesn't respond; zero for not at all.
    let outageGrace: Duration
    private let group: EventLoopGroup
    private let boxes: [LoopBound<Box>]
    private let start = ContinuousClock.now
    private let judgedBy = Mutex(JudgedBy())
    /// Until when the news are young enough, in nanoseconds since `start`.
    private let currentUntil = Atomic<Int64>(0)
    private let checks = CounterFamily(
        "vestibule_gateway_session_checks_total",
        help:
            "Access tokens judged by identity, by its answer of the last minute, or by the grace while it does not respond.",
        labels: ["by"],
        values: [["identity"], ["answer"], ["grace"]]
    )

    /// No answers yet.
    init(changes: SessionChanges, group: EventLoopGroup, outageGrace: Duration = .zero) {
        self.changes = changes
        self.outageGrace = outageGrace
        self.group = group
        boxes = group.loops.map { LoopBound(Box(), loop: $0) }
    }

    /// The answer to a token if it is still good.
    func answer(to token: String) -> IdentityV1.CheckSessionResponse? {
        let now = ContinuousClock.now
        guard let box, isCurrent(now), let answer = box.answers.value(of: token), now < answer.goodUntil else {
            return nil
        }
        if answer.number != changes.number {
            let response = answer.response
            guard
                let number = changes.number(
                    ifUnchanged: response.sessionID,
                    of: response.userID,
                    since: answer.number
                )
            else { return nil }
            answer.number = number
        }
        checks[1].add()
        return answer.response
    }

    /// When identity was asked, and the last change before it.
    struct Asking: Sendable {
        fileprivate let at: ContinuousClock.Instant
        fileprivate let number: UInt64
    }

    /// To be called before identity is asked.
    func ask() -> Asking { Asking(at: .now, number: changes.number) }

    /// Counts an answer of identity, and keeps it for the loop that this runs on if identity allows that and the answer is by what the stream's
    /// server judges by.
    ///
    /// - Parameter isForOnce: whether the token will not come again.
    func keep(
        _ response: IdentityV1.CheckSessionResponse,
        to token: String,
        isForOnce: Bool = false,
        _ asking: Asking
    ) {
        checks[0].add()
        guard response.goodForMilliseconds > 0, !isForOnce, let box else { return }
        let isCurrent = judgedBy.withLock { known in
            known.keysID.elementsEqual(response.keysID)
                && known.sessionsFromMilliseconds <= response.sessionsFromMilliseconds
        }
        guard isCurrent else { return }
        let goodFor = min(Self.goodForMax, .milliseconds(min(response.goodForMilliseconds, 86_400_000)))
        box.answers.insert(Answer(response, asking, goodFor: goodFor), for: token)
    }

    /// The stream's server judges by these from now on. Earlier answers are dropped if that is something new.
    ///
    /// - Parameters:
    ///   - keysID: empty if unchanged.
    ///   - sessionsFromMilliseconds: nil if unchanged.
    func judge(by keysID: some Collection<UInt8>, sessionsFromMilliseconds: Int64?) {
        let isNew = judgedBy.withLock { known in
            let before = known
            if !keysID.isEmpty { known.keysID = Array(keysID) }
            known.sessionsFromMilliseconds = sessionsFromMilliseconds ?? known.sessionsFromMilliseconds
            return known.keysID != before.keysID || known.sessionsFromMilliseconds != before.sessionsFromMilliseconds
        }
        if isNew { changes.noteAll() }
    }

    /// An answer to use for a read while identity doesn't respond, whichever loop has it, and the time since the news were last current. Nil if
    /// the grace is over or off, the token has expired, or its session is known to have ended.
    ///
    /// The answer may be older than identity allowed, by less than the time for which ends are known. Services take its proofs about as long.
    func answerInOutage(to token: String, nowSeconds: Int64) async -> OutageAnswer? {
        guard outageGrace > .zero else { return nil }
        let late = ContinuousClock.now - start - .nanoseconds(currentUntil.load(ordering: .acquiring))
        let age = late + Self.newsAgeMax
        guard .zero < late, age <= outageGrace else { return nil }
        let current = EventLoop.current
        if let kept = kept(token), nowSeconds < kept.expiresAtSeconds { return OutageAnswer(response: kept, age: age) }
        for loop in group.loops where loop !== current {
            let kept = await Task(executorPreference: loop) { self.kept(token) }.value
            if let kept, nowSeconds < kept.expiresAtSeconds { return OutageAnswer(response: kept, age: age) }
        }
        return nil
    }

    private func kept(_ token: String) -> IdentityV1.CheckSessionResponse? {
        // An end is known for at least that long.
        guard let answer = box?.answers.value(of: token), ContinuousClock.now - answer.askedAt < SessionChanges.kept,
            changes.number(ifUnchanged: answer.response.sessionID, of: answer.response.userID, since: answer.number)
                != nil
        else { return nil }
        return answer.response
    }

    /// Counts the use of an answer in an outage.
    func countOutageAnswer() { checks[2].add() }

    /// The news up to now are known, but for those of the last `age`.
    func heard(at now: ContinuousClock.Instant, age: Duration) {
        currentUntil.store((now + Self.newsAgeMax - age - start).nanoseconds, ordering: .releasing)
    }

    private func isCurrent(_ now: ContinuousClock.Instant) -> Bool {
        (now - start).nanoseconds < currentUntil.load(ordering: .acquiring)
    }

    /// The current loop's; nil off the group's loops.
    private var box: Box? {
        guard let loop = EventLoop.current, group.contains(loop) else { return nil }
        return boxes[loop.index].value
    }
}

extension SessionAnswers: MetricsSource {
    /// Adds the families.
    func write(to text: inout MetricsText) {
        checks.write(to: &text)
        text.single(
            "vestibule_gateway_session_news_current",
            .gauge,
            help:
                "1 while the gateway hears in time which sessions end; 0 while it has to ask identity about each token.",
            isCurrent(.now) ? 1 : 0
        )
    }
}

extension Duration {
    /// Whole nanoseconds; at most what fits.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return isOver ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000
    }
}
