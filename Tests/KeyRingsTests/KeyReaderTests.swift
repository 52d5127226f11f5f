import Logging
import ServiceKit
import Synchronization
import Testing

@testable import KeyRings

struct KeyReaderTests {
    private func ring(_ kind: String, _ id: String) throws -> KeyRing {
        try KeyRing(kind: kind, keys: [KeyRing.Key(id: id, state: .current, sinceSeconds: 1, text: "x")])
    }

    @Test func `A kind of keys that is gone from the folder stays in use`() async throws {
        let (signing, refresh) = (try ring("signing", "a"), try ring("refresh", "b"))
        let folder = Mutex([refresh])
        let used = Atomic(0)
        let reader = KeyReader(
            program: .identity,
            rings: [signing, refresh],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) {
            (folder.withLock { $0 }, { _ = used.add(1, ordering: .relaxed) })
        }
        await reader.read()
        #expect(used.load(ordering: .relaxed) == 0)
        let next = try ring("signing", "c")
        folder.withLock { $0 = [next, refresh] }
        await reader.read()
        #expect(used.load(ordering: .relaxed) == 1)
        var text = MetricsText()
        reader.write(to: &text)
        #expect(text.text.contains(#"vestibule_identity_key_folder_reads_total{outcome="failed"} 1"#))
        #expect(text.text.contains(#"vestibule_identity_key_folder_reads_total{outcome="changed"} 1"#))
    }

    @Test func `It has the time at which the oldest key of each state got that state`() throws {
        let keys: [KeyRing.Key] = [
            .init(id: "a", state: .current, sinceSeconds: 300, text: "x"),
            .init(id: "b", state: .retired, sinceSeconds: 200, text: "x"),
            .init(id: "c", state: .retired, sinceSeconds: 100, text: "x"),
        ]
        let ring = try KeyRing(kind: "vault", keys: keys)
        let reader = KeyReader(
            program: .identity,
            rings: [ring],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ) { ([ring], {}) }
        var text = MetricsText()
        reader.write(to: &text)
        let name = "vestibule_identity_own_keys_since_timestamp_seconds"
        let samples = text.text.split(separator: "\n").filter { $0.hasPrefix("\(name){") }
        #expect(
            samples == [
                "\(name){kind=\"vault\",state=\"current\"} 300", "\(name){kind=\"vault\",state=\"retired\"} 100",
            ]
        )
    }
}
