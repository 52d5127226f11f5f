import Logging
import ServiceKit
import Synchronization
import Testing

/// Things to delete, and how many each look deleted.
private final class Heap: Sendable {
    private let state: Mutex<(left: Int, looks: [Int])>

    init(_ count: Int) { state = Mutex((count, [])) }

    var looks: [Int] { state.withLock { $0.looks } }

    func delete(_ limit: Int) -> Int {
        state.withLock { state in
            let count = min(limit, state.left)
            state.left -= count
            state.looks.append(count)
            return count
        }
    }
}

private struct Broken: Error {}

struct CleanupTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    @Test func `Deletes all that is over, so much at once as it may`() async {
        let (large, small) = (Heap(2 * Cleanup.rowsMax), Heap(1))
        let steps = [large, small].map { heap in Cleanup.Step("things") { heap.delete($0) } }
        await Cleanup(every: .seconds(60), steps, logger: logger).clean()
        // The third look finds that nothing is left.
        #expect(large.looks == [Cleanup.rowsMax, Cleanup.rowsMax, 0])
        #expect(small.looks == [1])
    }

    @Test func `A step that fails keeps no other from being done, and is done again in the next round`() async {
        let heap = Heap(1)
        let steps = [
            Cleanup.Step("broken") { _ in throw Broken() },
            Cleanup.Step("things") { heap.delete($0) },
        ]
        let cleanup = Cleanup(every: .seconds(60), steps, logger: logger)
        await cleanup.clean()
        await cleanup.clean()
        #expect(heap.looks == [1, 0])
    }

    @Test func `Ends when its task is cancelled, also between two batches`() async {
        let (batches, batch) = AsyncStream.makeStream(of: Void.self)
        let endless = Cleanup.Step("things") { limit in
            batch.yield()
            return limit
        }
        let cleanup = Cleanup(every: .seconds(3_600), [endless], logger: logger)
        let task = Task { await cleanup.run() }
        for await _ in batches { break }
        task.cancel()
        await task.value
    }
}
