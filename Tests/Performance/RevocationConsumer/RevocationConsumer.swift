import Dispatch
import Glibc
import RPCTransport
import SessionVerifier
import Synchronization

/// A service that verifies access tokens by itself, as the benchmark has it: `revocation-consumer TARGET ISSUER AUDIENCE`.
///
/// It verifies the tokens that it is given in turn, without a pause, each until it is refused. A line of its input is a number
/// and a token, parted by a space. Of its output it is `accepted` and the number, once a token was; and then the number, the
/// time of the last time that it was accepted and that of the refusal, in nanoseconds of CLOCK_MONOTONIC, and the refusal.
/// Says `ready` first, once the stream has told all, and ends with its input: then `asked` and how often identity was asked.
@main
enum RevocationConsumer {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3 else {
            let usage = "revocation-consumer TARGET ISSUER AUDIENCE\n"
            _ = write(STDERR_FILENO, usage, usage.utf8.count)
            exit(64)  // EX_USAGE of sysexits.h
        }
        try await withEventLoopGroup(loopCount: 1, name: "consumer") { group in
            let channel = try RPCChannel(target: arguments[0], group: group)
            let verifier = SessionVerifier(
                channel: channel,
                configuration: SessionVerifierConfiguration(issuer: arguments[1], audience: arguments[2])
            )
            let running = Task { await verifier.run() }
            while !verifier.statistics.isCurrent { try await Task.sleep(for: .milliseconds(5)) }
            tell("ready")
            await hammer(verifier, Input())
            tell("asked \(verifier.statistics.asked)")
            running.cancel()
            await running.value
            await channel.close()
        }
    }

    private struct Candidate {
        let number: Substring
        let token: String
        var acceptedAt: UInt64 = 0
    }

    private static func hammer(_ verifier: SessionVerifier, _ input: Input) async {
        var candidates: [Candidate] = []
        while true {
            let (lines, isOver) = input.take()
            for line in lines {
                guard let space = line.firstIndex(of: " ") else { continue }
                let token = String(line[line.index(after: space)...])
                candidates.append(Candidate(number: line[..<space], token: token))
            }
            if candidates.isEmpty {
                if isOver { return }
                try? await Task.sleep(for: .milliseconds(1))
                continue
            }
            for index in candidates.indices.reversed() {
                do throws(SessionRefusal) {
                    _ = try await verifier.verify(candidates[index].token)
                    if candidates[index].acceptedAt == 0 { tell("accepted \(candidates[index].number)") }
                    // When it was let in, not when it was asked.
                    candidates[index].acceptedAt = now()
                } catch {
                    tell("\(candidates[index].number) \(candidates[index].acceptedAt) \(now()) \(word(error))")
                    candidates.remove(at: index)
                }
            }
            // Others of this thread get their turn.
            await Task.yield()
        }
    }

    private static func word(_ refusal: SessionRefusal) -> String {
        switch refusal {
        case .invalid: "invalid"
        case .expired: "expired"
        case .ended: "ended"
        case .unavailable: "unavailable"
        }
    }

    private static func now() -> UInt64 {
        var time = timespec()
        // Fails only for an unknown clock or a bad pointer, and this is neither.
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    private static func tell(_ line: String) {
        // Past stdio, which would wait for the thread that reads.
        let bytes = Array((line + "\n").utf8)
        guard write(STDOUT_FILENO, bytes, bytes.count) == bytes.count else { exit(EX_IOERR) }
    }
}

/// The lines of standard input, read by a thread of its own.
private final class Input: Sendable {
    private let lines = Mutex<(waiting: [String], isOver: Bool)>(([], false))

    init() {
        let thread = DispatchQueue(label: "input")
        thread.async {
            while let line = readLine() { self.lines.withLock { $0.waiting.append(line) } }
            self.lines.withLock { $0.isOver = true }
        }
    }

    /// What has come since the last time, and whether there is no more.
    func take() -> (lines: [String], isOver: Bool) {
        lines.withLock { lines in
            defer { lines.waiting = [] }
            return (lines.waiting, lines.isOver)
        }
    }
}
