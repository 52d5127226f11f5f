import RPCTransport
import Testing

@testable import ServiceKit

struct MetricsTextTests {
    @Test func `A family has its help and type once, and a line for each sample`() {
        var text = MetricsText()
        text.family(
            "vestibule_test_total",
            .counter,
            help: "Tests.",
            [([("kind", "a")], 1), ([("kind", "b"), ("other", "c")], 2.5)]
        )
        text.single("vestibule_test", .gauge, help: "One.", 0)
        #expect(
            text.text == """
                # HELP vestibule_test_total Tests.
                # TYPE vestibule_test_total counter
                vestibule_test_total{kind="a"} 1
                vestibule_test_total{kind="b",other="c"} 2.5
                # HELP vestibule_test One.
                # TYPE vestibule_test gauge
                vestibule_test 0

                """
        )
    }

    @Test func `A family without samples is not told at all`() {
        var text = MetricsText()
        text.family("vestibule_test_total", .counter, help: "Tests.", [])
        text.times("vestibule_test_seconds", help: "Times.", [])
        #expect(text.text == "")
    }

    @Test func `Backslashes, quotes and line ends in values cannot end a label or a line`() {
        var text = MetricsText()
        text.family("vestibule_test", .gauge, help: "A \"test\" \\ here.", [([("kind", "a\"}\\\n1")], 1)])
        #expect(
            text.text.split(separator: "\n") == [
                "# HELP vestibule_test A \"test\" \\\\ here.", "# TYPE vestibule_test gauge",
                "vestibule_test{kind=\"a\\\"}\\\\\\n1\"} 1",
            ]
        )
    }

    @Test(
        arguments: [
            (0, "0"), (1, "1"), (-3, "-3"), (0.25, "0.25"), (1e15, "1000000000000000"), (5e-05, "5e-05"),
            (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (1e300, "1e+300"),
        ] as [(Double, String)]
    )
    func `Numbers are written as the format spells them`(value: Double, spelled: String) {
        #expect(MetricsText.number(value) == spelled)
    }

    @Test func `A histogram's buckets are sums up to their bound, from 50 µs to 10 s, and end with all`() {
        var times = TimeStatistics()
        for nanoseconds in [1, 50_000, 50_001, 10_000_000_000, 10_000_000_001] as [UInt64] {
            times.count(nanoseconds: nanoseconds)
        }
        var text = MetricsText()
        text.times("vestibule_test_seconds", help: "Times.", [([("kind", "a")], times)])
        let lines = text.text.split(separator: "\n").map(String.init)
        #expect(lines.count == 2 + 18 + 2)
        #expect(lines[2] == "vestibule_test_seconds_bucket{kind=\"a\",le=\"5e-05\"} 2")
        #expect(lines[3] == "vestibule_test_seconds_bucket{kind=\"a\",le=\"0.0001\"} 3")
        #expect(lines[18] == "vestibule_test_seconds_bucket{kind=\"a\",le=\"10\"} 4")
        #expect(lines[19] == "vestibule_test_seconds_bucket{kind=\"a\",le=\"+Inf\"} 5")
        #expect(lines[20] == "vestibule_test_seconds_sum{kind=\"a\"} 20.000100003")
        #expect(lines[21] == "vestibule_test_seconds_count{kind=\"a\"} 5")
    }

    @Test func `Sources follow each other, and counters count from any thread`() async {
        let registry = MetricsRegistry()
        let first = CounterFamily(
            "vestibule_first_total",
            help: "First.",
            labels: ["kind"],
            values: [["a"], ["b"]]
        )
        let second = CounterFamily("vestibule_second_total", help: "Second.")
        registry.add(first)
        registry.add(second)
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 0..<8 { tasks.addTask { for _ in 0..<1000 { first[1].add() } } }
        }
        second[0].add(7)
        let lines = registry.text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(
            lines == [
                "vestibule_first_total{kind=\"a\"} 0", "vestibule_first_total{kind=\"b\"} 8000",
                "vestibule_second_total 7",
            ]
        )
    }

    @Test func `The process's own statistics are read past a name with spaces and parentheses in it`() throws {
        let line =
            "42 (a (b) c) S 1 42 42 0 -1 4194560 100 0 0 0 31 11 0 0 20 0 7 0 12345 1048576 250 18446744073709551615 1 1"
        let process = try #require(ProcessStatistics(own: line.split(separator: " ")))
        #expect(process.processorTicks == 42)
        #expect(process.threadCount == 7)
        #expect(process.startTicks == 12345)
        #expect(process.virtualBytes == 1_048_576)
        #expect(process.residentPages == 250)
        #expect(ProcessStatistics(own: []) == nil)
        #expect(ProcessStatistics(own: "42 (a) S 1 42".split(separator: " ")) == nil)
    }
}
