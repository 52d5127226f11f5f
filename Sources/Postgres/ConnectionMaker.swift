internal import CLibPQ
import Dispatch
import RPCTransport
import Synchronization

/// Makes a loop's connections on a thread of its own, one after the other: libpq reads files, computes (TLS, SCRAM) and
/// waits there, and gives each of several servers its time, none of which a loop could let it do.
final class ConnectionMaker: Sendable {
    private let queue = DispatchQueue(label: "vestibule.postgres.connect")

    /// What came of it: a connection in pipeline mode that doesn't block, and now the caller's; or why there is none.
    enum Outcome: Sendable {
        case opened(UInt)
        case failed(String)
    }

    /// Begins. Calls back once on the loop, unless the attempt was given up, in which case it may not.
    func open(
        _ parameters: [(keyword: String, value: String)],
        _ setup: SessionSetup,
        for attempt: Attempt,
        on loop: EventLoop,
        _ done: @escaping @Sendable (Outcome) -> Void
    ) {
        queue.async {
            // One that waited behind others may be too late, and must not hold up those behind it.
            guard !attempt.isGivenUp else { return }
            let outcome = Self.open(parameters, setup)
            if attempt.isGivenUp, case .opened(let pointer) = outcome {
                return PQfinish(OpaquePointer(bitPattern: pointer))
            }
            loop.execute { done(outcome) }
        }
    }

    private static func open(_ parameters: [(keyword: String, value: String)], _ setup: SessionSetup) -> Outcome {
        let opened = withCStrings(parameters.map(\.keyword)) { keywords in
            withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(keywords, values, 0) }
        }
        guard let opened else { return .failed("out of memory") }
        // The default prints notices on standard error.
        PQsetNoticeProcessor(opened, { _, _ in }, nil)
        guard PQstatus(opened) == CONNECTION_OK else {
            defer { PQfinish(opened) }
            return .failed(opened.errorMessage)
        }
        if let fault = setup.run(on: opened) {
            PQfinish(opened)
            return .failed(fault)
        }
        guard PQenterPipelineMode(opened) == 1 else {
            defer { PQfinish(opened) }
            return .failed(opened.errorMessage)
        }
        return .opened(UInt(bitPattern: opened))
    }

    /// An attempt to connect. Any thread.
    final class Attempt: Sendable {
        private let givenUp = Atomic(false)
        var isGivenUp: Bool { givenUp.load(ordering: .relaxed) }
        func giveUp() { givenUp.store(true, ordering: .relaxed) }
    }
}

extension OpaquePointer {
    /// libpq's last words about a connection, in one line.
    var errorMessage: String {
        guard let text = PQerrorMessage(self) else { return "out of memory" }
        // Its second lines begin with a tab.
        return String(cString: text).split(separator: "\n").map { String($0.drop { $0 == "\t" }) }.joined(
            separator: "; "
        )
    }
}
