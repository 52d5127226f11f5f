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
}
