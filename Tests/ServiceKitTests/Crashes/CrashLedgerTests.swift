import API
import RPC
import Testing

@testable import ServiceKit

/// How often a program crashed, and what follows.
struct CrashLedgerTests {
    static func report(_ method: String?, at seconds: Int64) -> CrashReport {
        let running = method.map { "running \($0) 0123abcd\n" } ?? ""
        let text = "signal SIGILL\nversion 1\nseconds \(seconds)\n\(running)call /other.Service/Other -\nend\n"
        return CrashReport(Array(text.utf8)) ?? CrashReport(unreadableAt: 0)
    }

    static func ledger(_ crashes: [(method: String?, seconds: Int64)]) -> CrashLedger {
        var ledger = CrashLedger()
        for crash in crashes { ledger.count(report(crash.method, at: crash.seconds)) }
        return ledger
    }

    @Test func `A report names its signal, time and running call`() {
        let report = Self.report("GET /groups/{id}", at: 1_700_000_000)
        #expect(report.signal == "SIGILL" && report.seconds == 1_700_000_000)
        #expect(report.running == CrashReport.Call(method: "GET /groups/{id}", requestID: "0123abcd"))
        #expect(Self.report(nil, at: 1).running == nil)
    }

    @Test(arguments: ["", "end", "signal SIGILL\nseconds 12\n", "signal SIGILL\nseconds x\nend\n", "seconds 1\nend\n"])
    func `An incomplete report is ignored`(text: String) {
        #expect(CrashReport(Array(text.utf8)) == nil)
    }

    @Test func `Three crashes on a method within a minute suspend it for five minutes`() {
        let ledger = Self.ledger([("/a.A/M", 1000), ("/a.A/M", 1030), ("/b.B/N", 1040), ("/a.A/M", 1060)])
        #expect(ledger.total == 4)
        #expect(ledger.suspended(nowSeconds: 1060) == ["/a.A/M": 300])
        #expect(ledger.suspended(nowSeconds: 1359) == ["/a.A/M": 1])
        #expect(ledger.suspended(nowSeconds: 1360).isEmpty)
    }

    @Test func `Fewer, slower or unattributed crashes suspend nothing`() {
        #expect(Self.ledger([("/a.A/M", 1000), ("/a.A/M", 1001)]).suspended(nowSeconds: 1002).isEmpty)
        let slow = Self.ledger([("/a.A/M", 1000), ("/a.A/M", 1030), ("/a.A/M", 1061)])
        #expect(slow.suspended(nowSeconds: 1062).isEmpty)
        #expect(Self.ledger([(nil, 1000), (nil, 1001), (nil, 1002)]).suspended(nowSeconds: 1003).isEmpty)
    }

    @Test func `Health is never suspended`() {
        let health = Self.ledger(Array(repeating: ("/grpc.health.v1.Health/Check", 1000), count: 3))
        #expect(health.total == 3 && health.suspended(nowSeconds: 1000).isEmpty)
    }

    @Test func `Times of any clock neither trap nor suspend for longer`() {
        let edges: [Int64] = [.min, -1, 0, 1, .max]
        for seconds in edges {
            for now in edges {
                let left = Self.ledger(Array(repeating: ("/a.A/M", seconds), count: 3)).suspended(nowSeconds: now)
                #expect(left.values.allSatisfy { (1...CrashLedger.suspensionSeconds).contains($0) })
            }
        }
        let mixed = Self.ledger(edges.map { ("/a.A/M", $0) })
        for now in edges { _ = mixed.suspended(nowSeconds: now) }
    }

    @Test func `A ledger is read as it was written, and keeps the latest entries`() {
        let many = Self.ledger((0..<100).map { ("/a.A/M", Int64($0)) })
        let read = CrashLedger(many.bytes)
        #expect(read == many && read.total == 100 && read.recent.count == CrashLedger.entriesMax)
        #expect(read.recent.last?.seconds == 99)
    }

    @Test func `A damaged ledger is read as far as it goes`() {
        let damaged = CrashLedger(Array("total 7\ncrash x y\ncrash 12\n\u{0}\ncrash 5 GET /me\ntotal no\n".utf8))
        #expect(damaged.total == 7 && damaged.recent == [.init(seconds: 5, method: "GET /me")])
    }

    @Test func `A router is given when calls are taken again`() {
        let ledger = Self.ledger(Array(repeating: ("/a.A/M", 1000), count: 3))
        let now = Deadline(nanoseconds: 5)
        let crashes = Crashes(ledger, now: now, nowSeconds: 1100)
        #expect(crashes.suspendedMethods.until == ["/a.A/M": now.advanced(by: .seconds(200))])
        let error = crashes.suspendedMethods.error(.milliseconds(200))
        #expect(error.code == .unavailable && error.reason == "METHOD_SUSPENDED" && error.retryAfter == .seconds(1))
    }

    @Test func `Crashes are measured only where they are counted`() {
        func text(_ crashes: Crashes) -> String {
            var text = MetricsText()
            crashes.write(to: &text)
            return text.text
        }
        #expect(text(.none).isEmpty)
        let counted = Crashes(total: 3, suspended: ["/a.A/M": .never, "/b.B/N": .now()], areCounted: true)
        #expect(text(counted).contains("\nvestibule_crashes_total 3\n"))
        #expect(text(counted).contains("\nvestibule_methods_suspended 1\n"))
    }
}
