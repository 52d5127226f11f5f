import Testing

@testable import ServiceKit

struct MetricsReadingTests {
    @Test func `What a program writes is read back`() {
        var text = MetricsText()
        text.single("one", .gauge, help: "One.", 1.5)
        text.family(
            "many_total",
            .counter,
            help: "Many.",
            [([("queue", "a \"b\" \\ c\nd"), ("state", "ready")], 2), ([("queue", "e"), ("state", "ready")], 3)]
        )
        let reading = MetricsReading(text: text.text)
        #expect(reading.value("one") == 1.5)
        #expect(reading.all("many_total").map(\.labels["queue"]) == ["a \"b\" \\ c\nd", "e"])
        #expect(reading.sum("many_total") == 5)
        #expect(reading.sum("many_total", where: ["queue": "e"]) == 3)
        #expect(reading.sum("many_total", where: ["queue": "f"]) == nil)
        #expect(reading.value("many_total") == nil)
    }

    @Test(arguments: [
        "name", "name{", "name{a", "name{a=", "name{a=\"", "name{a=\"b\\", "name{a=\"b\"", "name x", "name NaN",
        "name +Inf", "name 1e300", " 1", "{} 1", "",
    ])
    func `A line that is cut or foreign is left out`(line: String) {
        let reading = MetricsReading(text: "\(line)\nafter 1")
        #expect(reading.value("after") == 1)
        #expect(reading.all("name").isEmpty)
    }
}
