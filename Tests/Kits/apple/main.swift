import Foundation
import Security

/// Tries the store of the Keychain, which is compiled into this program, on a Keychain and a system that do what the test wants.
struct Failure: Error { let message: String }

func expect(_ condition: Bool, _ message: String) throws { if !condition { throw Failure(message: message) } }

let key = "vestibule-test"
let group = "group.example.app"
let folder = URL(filePath: ProcessInfo.processInfo.environment["CONTAINER"] ?? "", directoryHint: .isDirectory)

func store() -> KeychainStore { KeychainStore(service: "example", accessGroup: "shared", appGroup: group) }

func installs() async throws {
    let first = store()
    try expect(try first.read(key) == nil, "an empty Keychain has a value")
    try await first.withLock(key) { try first.write(Data("first owner".utf8), key) }
    try expect(try store().read(key) == Data("first owner".utf8), "what was written isn't read by another store")
    // The app is removed and installed again: its files are gone, and the Keychain is not.
    try FileManager.default.removeItem(at: folder.appending(path: "Vestibule"))
    let second = store()
    try expect(try second.read(key) == nil, "a new installation reads what was there before the lock is taken")
    let found = try await second.withLock(key) { try second.read(key) }
    try expect(found == nil, "a new installation reads what was there under the lock")
    try expect(try second.read(key) == nil, "a new installation reads what was there after the lock was taken")
    try await second.withLock(key) { try second.write(Data("second owner".utf8), key) }
    let kept = try await store().withLock(key) { try second.read(key) }
    try expect(kept == Data("second owner".utf8), "what was written is lost")
}

func refused() async throws {
    BackgroundTime.isGranted = false
    defer { BackgroundTime.isGranted = true }
    do {
        try await store().withLock(key) { throw Failure(message: "it works without time") }
    } catch is StoreFailure {
        return
    }
    throw Failure(message: "a lock without time is no failure")
}

func expired() async throws {
    let isInside = Box(false)
    let hasLeft = Box(false)
    let work = Task {
        try await store().withLock(key) {
            isInside.value = true
            defer { hasLeft.value = true }
            try await Task.sleep(for: .seconds(60))
        }
    }
    while !isInside.value { try await Task.sleep(for: .milliseconds(5)) }
    await withCheckedContinuation { ended in
        Thread.detachNewThread {
            BackgroundTime.expire()
            ended.resume()
        }
    }
    // Now the system suspends the app: nothing of it may hold the lock.
    try expect(hasLeft.value, "the app is suspended in its work")
    let lock = try await FileLock(folder.appending(path: "Vestibule/\(key).lock"))
    lock.free()
    do {
        try await work.value
    } catch is StoreFailure {
        return
    }
    throw Failure(message: "work whose time ended is no failure of the store")
}

do {
    try await installs()
    try await refused()
    try await expired()
    print("done")
} catch {
    print(error)
    exit(1)
}
