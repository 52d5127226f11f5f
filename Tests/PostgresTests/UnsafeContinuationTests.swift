import Testing

@testable import Postgres

struct UnsafeContinuationTests {
    @Test func `A continuation tells whether its own task was cancelled`() async {
        for cancels in [false, true] {
            let wait: @Sendable () async -> Bool = {
                await withUnsafeContinuation { (continuation: UnsafeContinuation<Bool, Never>) in
                    // Another thread asks, as the loop does.
                    Task.detached {
                        try? await Task.sleep(for: .milliseconds(20))
                        let told = continuation.isTaskCancelled
                        continuation.resume(returning: told)
                    }
                }
            }
            let task = Task {
                async let child = wait()
                let inGroup = await withTaskGroup(of: Bool.self) { group in
                    group.addTask { await wait() }
                    return await group.next()
                }
                return (await child, inGroup, await wait())
            }
            if cancels { task.cancel() }
            let told = await task.value
            #expect(told == (cancels, cancels, cancels))
        }
    }
}
