import Foundation
import VestibuleClient

/// Speaks the protocol of drivers (Tests/Kits/README.md) on standard input and output, by the Swift kit.
@main
enum Main {
    static func main() async {
        let driver = Driver()
        // Lines are read by a thread of its own: reading blocks.
        let (lines, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            while let line = readLine() { continuation.yield(line) }
            continuation.finish()
        }
        for await line in lines {
            guard let request = try? JSONObject(parsing: line.utf8) else { continue }
            await driver.take(request)
        }
        exit(0)
    }
}

/// Writes lines, each as a whole.
enum Output {
    private static let lock = NSLock()

    static func write(_ object: JSONObject) {
        lock.withLock { FileHandle.standardOutput.write(object.serialized + Data("\n".utf8)) }
    }

    static func event(_ name: String, _ client: String, _ members: [String: JSONValue] = [:]) {
        write(JSONObject(["client": .text(client), "event": .text(name)].merging(members) { own, _ in own }))
    }
}
