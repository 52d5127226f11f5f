import Foundation
import VestibuleClient

/// A store whose client dies at one of its operations, or which fails once.
// What changes is guarded by `lock`.
final class FaultyStore: SessionStore, @unchecked Sendable {
    struct Fault {
        enum Mode: String {
            case before, after
            case `throws` = "throw"
        }

        /// The number of the operation, from 1.
        let at: Int
        let mode: Mode

        init(at: Int32, mode: Mode) {
            self.at = Int(at)
            self.mode = mode
        }
    }

    private struct Failure: Error {}

    private let store: FileStore
    private let fault: Fault?
    private let died: @Sendable () -> Void
    private let lock = NSLock()
    private var count = 0
    private var isDead = false
    private var isDropped = false
    private var waiting: [CheckedContinuation<Void, any Error>] = []

    init(_ store: FileStore, _ fault: Fault?, _ died: @escaping @Sendable () -> Void) {
        self.store = store
        self.fault = fault
        self.died = died
    }

    var operations: (count: Int, isDead: Bool) { lock.withLock { (count, isDead) } }

    func read(_ key: String) async throws -> Data? { try await operation { try store.read(key) } }

    func write(_ value: Data, _ key: String) async throws { try await operation { try store.write(value, key) } }

    func remove(_ key: String) async throws { try await operation { try store.remove(key) } }

    func withLock<Result: Sendable>(
        _ key: String,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let number = try await begin()
        return try await store.withLock(key) {
            try await self.end(number)
            return try await body()
        }
    }

    private func operation<Result>(_ body: () throws -> Result) async throws -> Result {
        let number = try await begin()
        let result = try body()
        try await self.end(number)
        return result
    }

    private func begin() async throws -> Int {
        let (number, dies) = lock.withLock {
            count += 1
            return (count, fault?.at == count && fault?.mode == .before)
        }
        if dies { die() }
        try await waitIfDead()
        if fault?.at == number, fault?.mode == .throws { throw Failure() }
        return number
    }

    private func end(_ number: Int) async throws {
        if fault?.at == number, fault?.mode == .after { die() }
        try await waitIfDead()
    }

    private func die() {
        lock.withLock { isDead = true }
        died()
    }

    /// A dead client's operations never return; those of a dropped one end, so that its memory and its locks are free.
    private func waitIfDead() async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let isOver = lock.withLock { () -> Bool? in
                if isDropped { return true }
                if isDead { waiting.append(continuation) }
                return isDead ? nil : false
            }
            switch isOver {
            case true?: continuation.resume(throwing: CancellationError())
            case false?: continuation.resume()
            case nil: break
            }
        }
    }

    func drop() {
        let waiting = lock.withLock {
            isDropped = true
            defer { self.waiting = [] }
            return self.waiting
        }
        for continuation in waiting { continuation.resume(throwing: CancellationError()) }
    }
}
