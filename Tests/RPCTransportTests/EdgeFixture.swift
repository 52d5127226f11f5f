import FoundationEssentials
import Glibc
import HTTP
import RPC
import TestCertificates

@testable import RPCTransport

/// A server of gRPC calls and other requests on one loop, and curl as its client.
struct EdgeFixture: Sendable {
    let handler: ExchangeHandler
    let group: EventLoopGroup
    let server: RPCServer
    let port: Int
    /// Where TLS is spoken.
    let authorityFile: String?
    fileprivate let arguments: [String]
    fileprivate let base: String

    var loop: EventLoop { group.loops[0] }

    /// What curl says and ends with.
    struct Answer: Sendable {
        var body: String
        var bytes: [UInt8]
        var status: Int32
    }

    struct SpawnFailed: Error {}

    /// Runs curl. An argument that begins with a slash is a target.
    func curl(_ more: [String]) async throws -> Answer {
        let targets = more.map { $0.hasPrefix("/") ? base + $0 : $0 }
        return try await Self.run(["curl", "-sS", "--noproxy", "*", "--max-time", "20"] + arguments + targets)
    }

    /// Sends a text by TLS and reads until the server closes.
    func exchangeByTLS(_ text: String) async throws -> Answer {
        let words = [
            "openssl", "s_client", "-quiet", "-verify_quiet", "-alpn", "http/1.1", "-CAfile", authorityFile ?? "",
        ]
        return try await Self.run(words + ["-connect", "127.0.0.1:\(port)"], input: text)
    }

    /// Runs a program on a thread of its own, so that who waits for it holds up no other test.
    private static func run(_ words: [String], input: String = "") async throws -> Answer {
        try await onThread { try wait(for: words, input: input) }
    }

    private static func wait(for words: [String], input: String) throws -> Answer {
        let base = FileManager.default.temporaryDirectory.path + "/vestibule-edge-\(UUID().uuidString)"
        let (inputFile, outputFile) = (base + ".in", base + ".out")
        _ = FileManager.default.createFile(atPath: inputFile, contents: Data(input.utf8))
        defer { for file in [inputFile, outputFile] { try? FileManager.default.removeItem(atPath: file) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, inputFile, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputFile, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        let copies = words.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        var process = pid_t()
        guard posix_spawnp(&process, words[0], &actions, nil, copies, environ) == 0 else { throw SpawnFailed() }
        var status: Int32 = 0
        guard waitpid(process, &status, 0) == process else { throw SpawnFailed() }
        let bytes = FileManager.default.contents(atPath: outputFile).map { [UInt8]($0) } ?? []
        return Answer(body: String(decoding: bytes, as: UTF8.self), bytes: bytes, status: status >> 8 & 0xff)
    }
}

/// Runs a test against a server that curl reaches in one way.
func withEdge(
    _ way: ExchangeTests.Way,
    configuration: ServerConfiguration = .init(),
    takesExchanges: Bool = true,
    _ body: (EdgeFixture) async throws -> Void
) async throws {
    let authority = try TestAuthority()
    defer { authority.remove() }
    var configuration = configuration
    let isTLS = way == .tls1 || way == .tls2
    if isTLS { configuration.tls = try authority.issue("server", names: "DNS:localhost,IP:127.0.0.1") }
    let version =
        switch way {
        case .http1, .tls1: "--http1.1"
        case .http2: "--http2-prior-knowledge"
        case .tls2: "--http2"
        }
    let handler = ExchangeHandler()
    let group = try EventLoopGroup(loopCount: 1, name: "edge")
    var router = Router()
    router.add(EchoService(probe: nil))
    let server = RPCServer(
        group: group,
        router: router,
        http: takesExchanges ? handler : nil,
        configuration: configuration
    )
    let port = try await server.start()
    let fixture = EdgeFixture(
        handler: handler,
        group: group,
        server: server,
        port: port,
        authorityFile: isTLS ? authority.file : nil,
        arguments: [version] + (isTLS ? ["--cacert", authority.file] : []),
        base: "\(isTLS ? "https" : "http")://127.0.0.1:\(port)"
    )
    do {
        try await body(fixture)
    } catch {
        await server.shutdown()
        await group.shutdown()
        throw error
    }
    await server.shutdown()
    await group.shutdown()
}

/// Runs what blocks on a thread of its own.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let work = Work { continuation.resume(with: Swift.Result { try body() }) }
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            Unmanaged.passRetained(work).toOpaque()
        )
        precondition(failure == 0, "a thread for a test")
        pthread_detach(thread)
    }
}

private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
