/// Maps a chart's values to coordinates.
struct ChartFrame {
    static let width = 860.0
    private static let left = 70.0
    private static let right = 34.0
    private static let top = 14.0
    private static let bottom = 26.0

    let height: Double
    /// The value at the top of the axis; 0 is at the bottom.
    let valueMax: Double

    /// A frame for values up to `largest`, rounded up to a round number.
    init(height: Double, largest: Double) {
        self.height = height
        valueMax = Self.roundUp(largest)
    }

    /// The next of 1, 2, 4, 5, 6, 8, 10 times a power of ten.
    static func roundUp(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        var power = 1.0
        while power * 10 <= value { power *= 10 }
        while power > value { power /= 10 }
        for factor in [1.0, 2, 4, 5, 6, 8, 10] where factor * power >= value { return factor * power }
        return power * 10
    }

    /// The x coordinate of a share of the width, 0 to 1.
    func x(_ share: Double) -> Double { Self.left + share * (Self.width - Self.left - Self.right) }

    /// The y coordinate of a value.
    func y(_ value: Double) -> Double {
        height - Self.bottom - min(max(value / valueMax, 0), 1) * (height - Self.top - Self.bottom)
    }

    /// The axis of values: lines and labels at its quarters.
    func valueAxis(_ label: (Double) -> String) -> String {
        (0...4).map { quarter in
            let value = valueMax * Double(quarter) / 4
            return SVGText.gridLine(x1: x(0), y1: y(value), x2: x(1), y2: y(value))
                + SVGText.label(quarter == 0 ? "0" : label(value), x: x(0) - 8, y: y(value) + 4, anchor: "end")
        }.joined()
    }

    /// A label on the horizontal axis.
    func mark(_ text: String, share: Double) -> String {
        SVGText.gridLine(x1: x(share), y1: y(0), x2: x(share), y2: y(0) + 5)
            + SVGText.label(text, x: x(share), y: height - 6, anchor: "middle")
    }

    /// The whole image.
    func picture(_ title: String, _ content: String) -> String {
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(SVGText.coordinate(Self.width)) "
            + "\(SVGText.coordinate(height))\" role=\"img\" aria-label=\"\(SVGText.escaped(title))\">\n\(content)</svg>\n"
    }
}
