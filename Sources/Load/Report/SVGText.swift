/// Text that is safe inside HTML and SVG, and elements of SVG.
enum SVGText {
    /// Escapes XML's special characters, for text and attributes; drops control characters, which XML doesn't allow.
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\t", "\n", "\r": result += " "
            case _ where scalar.value < 0x20 || scalar.value == 0x7f || scalar.value & 0xfffe == 0xfffe: continue
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A coordinate: one decimal is finer than a screen.
    static func coordinate(_ value: Double) -> String { Figures.fixed(value, 1) }

    /// A label.
    static func label(_ text: String, x: Double, y: Double, anchor: String) -> String {
        "<text x=\"\(coordinate(x))\" y=\"\(coordinate(y))\" text-anchor=\"\(anchor)\">\(escaped(text))</text>\n"
    }

    /// A grid line.
    static func gridLine(x1: Double, y1: Double, x2: Double, y2: Double) -> String {
        "<line class=\"grid\" x1=\"\(coordinate(x1))\" y1=\"\(coordinate(y1))\" x2=\"\(coordinate(x2))\" "
            + "y2=\"\(coordinate(y2))\"/>\n"
    }

    /// A line through points; a dot for a single point.
    static func path(_ points: [(x: Double, y: Double)], series: String) -> String {
        guard let first = points.first else { return "" }
        if points.count == 1 {
            return
                "<circle class=\"dot \(series)\" cx=\"\(coordinate(first.x))\" cy=\"\(coordinate(first.y))\" r=\"3\"/>\n"
        }
        let steps = points.map { "\(coordinate($0.x)),\(coordinate($0.y))" }.joined(separator: " ")
        return "<polyline class=\"line \(series)\" points=\"\(steps)\"/>\n"
    }
}
