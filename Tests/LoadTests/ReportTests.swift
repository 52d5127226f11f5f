import Foundation
import FoundationXML
import JOSE
import ServiceKit
import Testing

@testable import Load

struct ReportTests {
    private static let hostile = "<script>alert(\"1\")</script> & 'x' \u{1}]]> é"

    private func report(reason: String = hostile, secondCount: Int = 3) throws -> RunReport {
        var plan = LoadPlan(
            scenario: .profile,
            target: .edge(url: "http://127.0.0.1:1/\(reason)"),
            simulatorURL: "http://127.0.0.1:2"
        )
        plan.ratePerSecond = 100
        var reads = CallStatistics()
        for index in 1...1000 { reads.record(latencyNanoseconds: UInt64(index) * 1000, failure: nil) }
        var writes = CallStatistics()
        writes.record(latencyNanoseconds: 1, failure: CallFailure(code: "INTERNAL", reason: reason))
        let seconds = (0..<secondCount).map { index in
            RunReport.Second(
                index: index,
                ratePerSecond: 1,
                failuresPerSecond: Double(index),
                p50Nanoseconds: 1_000_000,
                p99Nanoseconds: 2_000_000
            )
        }
        var report = RunReport(
            plan: plan,
            startedUnixSeconds: 1_795_269_600,
            measuredNanoseconds: 2_500_000_000,
            rows: [.init(name: "get-profile", statistics: reads), .init(name: "update-profile", statistics: writes)],
            seconds: seconds,
            processor: ProcessorShare(cores: 1.25, busiestThread: 0.95, machineCores: 2)
        )
        report.arrivals = RunReport.Arrivals()
        report.arrivals?.droppedCount = 4
        report.side.resumedRefreshCount = 3
        return report
    }

    @Test func `The page is well-formed XML, shows a hostile reason as text, and needs nothing else`() throws {
        let page = HTMLReport.text(try report())
        let seen = XMLOutline()
        let parser = XMLParser(data: Data(page.utf8))
        parser.delegate = seen
        #expect(parser.parse(), "\(String(describing: parser.parserError)) in line \(parser.lineNumber)")
        #expect(seen.elements["svg"] == 4)
        #expect(seen.elements["script"] == nil)
        #expect(seen.text.contains("<script>alert(\"1\")</script> & 'x' ]]> é"))
        for word in ["src=", "href=", "url(", "@import", "<link"] { #expect(!page.contains(word), "\(word)") }
        let addresses = page.components(separatedBy: "http").dropFirst().map { $0.prefix { $0 != "\"" } }
        let allowed = ["://www.w3.org/1999/xhtml", "://www.w3.org/2000/svg"]
        #expect(addresses.allSatisfy { allowed.contains(String($0)) || $0.hasPrefix("://127.0.0.1:1/") })
        #expect(page.contains("prefers-color-scheme: dark"))
        #expect(page.contains("2026-11-21T"))
    }

    @Test(arguments: [0, 1, 86_400]
    )
    func `The page is well-formed without calls, with one second, and with a day of seconds`(secondCount: Int) throws {
        var report = try report(reason: "", secondCount: secondCount)
        if secondCount == 0 { report.rows = [.init(name: "refresh", statistics: CallStatistics())] }
        let page = HTMLReport.text(report)
        let parser = XMLParser(data: Data(page.utf8))
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(page.utf8.count < 200_000)
    }

    @Test func `JSON is valid and has the figures`() throws {
        let bytes = JSONReport.bytes(try report())
        let limits = JSONLimits(bytesMax: bytes.count, depthMax: 16, valuesMax: 100_000)
        let json = try JSONObject(parsing: bytes, limits: limits)
        #expect(json["scenario"]?.string == "profile")
        #expect(json["error_count"]?.integer == 5)
        let operations = try #require(json["operations"]?.array)
        #expect(operations.map { $0.object?["name"]?.string } == ["get-profile", "update-profile"])
        let latency = try #require(operations[0].object?["latency_ns"]?.object)
        let p50 = try #require(latency["p50"]?.integer)
        #expect((499_500...500_500).contains(p50))
        #expect(operations[0].object?["succeeded_per_second"] == .number(literal: "400.0000"))
        let errors = try #require(operations[1].object?["errors"]?.array)
        #expect(errors.map { $0.object?["code"]?.string } == ["INTERNAL"])
        #expect(json["seconds"]?.array?.count == 3)
        #expect(json["processor"]?.object?["is_limit"]?.bool == true)
    }

    @Test func `The table has a row per kind and one for all, the errors, and what limits the figures`() throws {
        let text = SummaryTable.text(try report(reason: "OUT_OF_LUCK"))
        let lines = text.split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.hasPrefix("get-profile") && $0.contains("1,000") && $0.contains(" 400 ") })
        #expect(lines.contains { $0.hasPrefix("all ") && $0.contains("1,001") })
        #expect(lines.contains { $0.hasSuffix("1  INTERNAL OUT_OF_LUCK") })
        #expect(text.contains("used 1.25 of 2 cores"))
        #expect(text.contains("try --threads 2"))
        #expect(text.contains("3 refreshes went on with the same token after a lost answer"))
        #expect(text.contains("4 calls were not made"))
    }

    @Test func `A long run's chart keeps its worst second`() throws {
        var seconds = try report(secondCount: 5000).seconds
        var worst = SecondRecord(index: 2345)
        worst.latency.record(nanoseconds: 9_000_000_000)
        seconds[2345] = RunReport.Second(worst, seconds: 1)
        let points = TimelineCharts.points(seconds)
        #expect(points.count <= TimelineCharts.pointsMax)
        #expect((points.map(\.p99).max() ?? 0) >= 9_000_000_000)
    }

    @Test func `Figures are rounded to a readable precision`() {
        #expect(Figures.latency(nanoseconds: 999) == "999 ns")
        #expect(Figures.latency(nanoseconds: 1_234) == "1.23 µs")
        #expect(Figures.latency(nanoseconds: 45_600_000) == "45.6 ms")
        #expect(Figures.latency(nanoseconds: 1_500_000_000) == "1.50 s")
        #expect(Figures.count(1_234_567) == "1,234,567")
        #expect(Figures.count(-1000) == "-1,000")
        #expect(Figures.fixed(-0.04, 1) == "0.0")
        #expect(Figures.fixed(2.995, 2) == "3.00" || Figures.fixed(2.995, 2) == "2.99")
        #expect(Figures.fixed(.nan, 1) == "-")
        #expect([0.0, 0.3, 1, 1.1, 5.5, 99, 100.5].map(ChartFrame.roundUp) == [1, 0.4, 1, 2, 6, 100, 200])
    }

    @Test func `The live line shows a second, and the bar the progress of the preparation`() throws {
        let second = try report().seconds[0]
        let line = LiveLine.text(second, errorCount: 12, totalSeconds: 60)
        #expect(line.hasPrefix(" 1/60 s") && line.contains("p50  1.00 ms") && line.hasSuffix("errors 12"))
        #expect(LiveLine.progress("accounts", done: 16, of: 32) == "accounts [############............] 16/32")
        #expect(LiveLine.progress("accounts", done: 0, of: 0).hasSuffix("0/0"))
    }
}

struct AllowedHostsTests {
    @Test(arguments: ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"]
    )
    func `This machine is allowed, by address or as localhost`(host: String) {
        #expect(AllowedHosts(named: []).allows(host))
    }

    @Test(arguments: [
        "127.0.0.1.example.com", "128.0.0.1", "127.1", "localhost.example.com", "10.0.0.1", "0.0.0.0", "",
    ]
    )
    func `A name that only resembles this machine's is not allowed`(host: String) {
        #expect(!AllowedHosts(named: []).allows(host))
    }

    @Test(arguments: [
        ("http://127.0.0.1:8080", "127.0.0.1"), ("https://example.com", "example.com"), ("http://[::1]:80", "::1"),
        ("http://127.0.0.1@example.com", nil), ("http://127.0.0.1:80/path", nil), ("ftp://127.0.0.1", nil),
        ("", nil),
    ]
    )
    func `A URL's host is checked`(url: String, host: String?) { #expect(AllowedHosts.host(ofURL: url) == host) }

    @Test func `Each refused host is reported once, and hosts allowed by name are not refused`() throws {
        let addresses = try #require(AddressList("identity.test:1,127.0.0.1:2,other.test:3"))
        let plan = LoadPlan(
            scenario: .mixed,
            target: .grpc(identity: addresses, profile: addresses, tls: nil, serverName: nil),
            simulatorURL: "http://simulator.test:7080"
        )
        #expect(AllowedHosts(named: []).refused(by: plan) == ["simulator.test", "identity.test", "other.test"])
        #expect(AllowedHosts(named: ["Identity.test", "simulator.test"]).refused(by: plan) == ["other.test"])
    }
}

/// Counts elements and collects text.
private final class XMLOutline: NSObject, XMLParserDelegate {
    private(set) var elements: [String: Int] = [:]
    private(set) var text = ""

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        elements[name, default: 0] += 1
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
}
