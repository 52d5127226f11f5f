import Foundation
import Testing

@testable import VestibuleClient

struct StoreTests {
    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "kit-\(UUID().uuidString)/deep")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        try await body(folder)
    }

    private static func keepsValues(_ store: some SessionStore) async throws {
        #expect(try await store.read("a") == nil)
        try await store.remove("a")
        try await store.write(Data("1".utf8), "a")
        try await store.write(Data("22".utf8), "a")
        try await store.write(Data("3".utf8), "b")
        #expect(try await store.read("a") == Data("22".utf8))
        try await store.remove("a")
        #expect(try await store.read("a") == nil)
        #expect(try await store.read("b") == Data("3".utf8))
    }

    private static func locks(_ store: some SessionStore) async throws {
        let inside = Box(0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    try await store.withLock("a") {
                        #expect(inside.value == 0)
                        inside.value += 1
                        try await Task.sleep(for: .milliseconds(1))
                        inside.value -= 1
                    }
                }
            }
            try await group.waitForAll()
        }
        // Another key is another lock, and a task that is cancelled stops waiting.
        try await store.withLock("a") {
            try await store.withLock("b") {}
            let waiting = Task { try await store.withLock("a") {} }
            try await Task.sleep(for: .milliseconds(5))
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        await #expect(throws: StoreFailure.self) { try await store.withLock("a") { throw StoreFailure(5) } }
        try await store.withLock("a") {}
    }

    @Test func `Files keep values, which only their user can read`() async throws {
        try await Self.withFolder { folder in
            try await Self.keepsValues(FileStore(folder: folder))
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            #expect(names == ["b.json"])
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.appending(path: "b.json").path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test func `Files lock, over stores of one folder`() async throws {
        try await Self.withFolder { folder in try await Self.locks(FileStore(folder: folder)) }
    }

    @Test func `A folder that can't be written fails`() async throws {
        let store = FileStore(folder: URL(filePath: "/dev/null/folder"))
        #expect(throws: (any Error).self) { try store.write(Data(), "a") }
        await #expect(throws: (any Error).self) { try await store.withLock("a") {} }
    }

    @Test func `Memory keeps values and locks`() async throws {
        try await Self.keepsValues(MemoryStore())
        try await Self.locks(MemoryStore())
    }

    @Test func `A record that can't be read is put aside, and the app gets the reason once`() async throws {
        let store = MemoryStore()
        let vestibule = Vestibule(url: try #require(URL(string: "http://127.0.0.1:1")), store: store)
        await store.write(Data("damaged".utf8), ServerURL.key(vestibule.url))
        let states = vestibule.states
        let reader = Task {
            var found: [SessionState] = []
            for await state in states { found.append(state) }
            return found
        }
        defer { reader.cancel() }
        await #expect(throws: VestibuleError.self) { try await vestibule.accessToken() }
        // The app has got the reason, which is cleared soon.
        let again = Vestibule(url: try #require(URL(string: "http://127.0.0.1:1/")), store: store)
        var state = try await again.state
        for _ in 0..<100 where state != .signedOut(reason: nil) {
            try await Task.sleep(for: .milliseconds(10))
            state = try await again.state
        }
        #expect(state == .signedOut(reason: nil))
        reader.cancel()
        #expect(await reader.value == [.signedOut(reason: .storeUnreadable)])
    }
}
