import WebPages

/// A chart of lines over time, drawn as SVG by the server: it has a title and a description for screen readers, a legend whose lines differ
/// in their dashes too, and no script. Pure.
struct LineChart: Sendable {
    /// A line.
    struct Series: Sendable, Hashable {
        let name: String
        /// Times in Unix seconds, rising, and values that are none below zero.
        let points: [(Double, Double)]

        static func == (left: Series, right: Series) -> Bool { left.name == right.name }
        func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }

    /// Unique on its page.
    let id: String
    let title: String
    /// Of the values.
    let unit: String
    /// The time that the chart shows, in Unix seconds.
    let from: Double
    let to: Double
    let series: [Series]

    private static let width = 720.0
    private static let height = 240.0
    private static let left = 56.0
    private static let right = 8.0
    private static let top = 12.0
    private static let bottom = 28.0
    /// The classes of lines, each with a colour and a dash of its own.
    static let stylesCount = 6

    /// The largest value, rounded up to one, two or five times a power of ten.
    var scaleMax: Double { Self.scale(series.flatMap(\.points).map(\.1).max() ?? 0) }

    /// One, two or five times a power of ten, at least as large as a value; 1 for nothing.
    static func scale(_ value: Double) -> Double {
        guard value > 0, value < 1e300 else { return 1 }
        var power = 1.0
        while power < value { power *= 10 }
        while power / 10 >= value { power /= 10 }
        return [power / 5, power / 2, power].first { $0 >= value } ?? power
    }

    /// The SVG and its legend.
    var html: HTML {
        """
        <figure>
        <svg viewBox="0 0 720 240" role="img" aria-labelledby="\(id)-title \(id)-text" class="chart">
        <title id="\(id)-title">\(title), \(unit)</title>
        <desc id="\(id)-text">\(description)</desc>
        \(grid)\(series.enumerated().map { line($0.element, style: $0.offset % Self.stylesCount) })</svg>
        <figcaption>\(title), \(unit)\(legend)</figcaption>
        </figure>

        """
    }

    /// What the chart shows, in words.
    var description: String {
        guard !series.isEmpty else { return "Nothing was counted in this time." }
        return series.map { series in
            let (last, most) = (series.points.last?.1 ?? 0, series.points.map(\.1).max() ?? 0)
            return "\(series.name): now \(Self.number(last)), at most \(Self.number(most))."
        }.joined(separator: " ")
    }

    private var legend: HTML {
        guard !series.isEmpty else { return ": nothing was counted in this time" }
        let entries = series.enumerated().map { index, series -> HTML in
            """
            <li><svg viewBox="0 0 24 8" class="key" aria-hidden="true"><path d="M0 4H24" class="line s\("\(index % Self.stylesCount)")"/></svg> \
            \(series.name) <b>\(Self.number(series.points.last?.1 ?? 0))</b></li>
            """
        }
        return "<ul class=\"legend\">\(entries)</ul>"
    }

    private var grid: HTML {
        let lines = [0.0, 0.5, 1].map { part -> HTML in
            let y = Self.coordinate(self.y(scaleMax * part))
            return """
                <path d="M\(Self.coordinate(Self.left)) \(y)H\(Self.coordinate(Self.width - Self.right))" class="grid"/>\
                <text x="\(Self.coordinate(Self.left - 6))" y="\(y)" class="value">\(Self.number(scaleMax * part))</text>

                """
        }
        let times = [(from, "start"), (to, "end")].map { time, anchor -> HTML in
            """
            <text x="\(Self.coordinate(x(time)))" y="\(Self.coordinate(Self.height - 8))" class="\(anchor)">\(Self.clock(time))</text>

            """
        }
        return "\(lines)\(times)"
    }

    private func line(_ series: Series, style: Int) -> HTML {
        let path = series.points.enumerated().map { index, point in
            "\(index == 0 ? "M" : "L")\(Self.coordinate(x(point.0))) \(Self.coordinate(y(point.1)))"
        }.joined()
        return "<path d=\"\(path)\" class=\"line s\("\(style)")\"/>\n"
    }

    private func x(_ time: Double) -> Double {
        let part = to > from ? min(1, max(0, (time - from) / (to - from))) : 0
        return Self.left + part * (Self.width - Self.left - Self.right)
    }

    private func y(_ value: Double) -> Double {
        let part = value.isFinite ? min(1, max(0, value / scaleMax)) : 0
        return Self.height - Self.bottom - part * (Self.height - Self.top - Self.bottom)
    }

    /// With one digit after the point.
    private static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }

    /// With at most three digits that count.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "–" }
        if value >= 100 || value == value.rounded() { return "\(Int(value.rounded()))" }
        let digits = value >= 10 ? 10.0 : value >= 0.01 ? 100.0 : 10_000.0
        return "\((value * digits).rounded() / digits)"
    }

    /// `14:05 UTC`
    private static func clock(_ seconds: Double) -> String {
        let minutes = Int(seconds.rounded()) / 60 % 1440
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(two(minutes / 60)):\(two(minutes % 60)) UTC"
    }
}

extension LineChart {
    /// The chart of a kind over the points that are kept: the series with the most, in order of their names.
    init(_ kind: ChartKind, _ points: [ChartPoint]) {
        var byName: [String: [(Double, Double)]] = [:]
        for point in points {
            for (name, value) in point.values[kind] ?? [:] {
                byName[name, default: []].append((point.atSeconds, value))
            }
        }
        let largest = byName.sorted { left, right in
            let (one, two) = (left.value.map(\.1).max() ?? 0, right.value.map(\.1).max() ?? 0)
            return one == two ? left.key < right.key : one > two
        }.prefix(MetricsHistory.seriesMax)
        self.init(
            id: "chart-\(kind.rawValue)",
            title: kind.title,
            unit: kind.unit,
            from: points.first?.atSeconds ?? 0,
            to: points.last?.atSeconds ?? 0,
            series: largest.sorted { $0.key < $1.key }.map { Series(name: $0.key, points: $0.value) }
        )
    }
}
