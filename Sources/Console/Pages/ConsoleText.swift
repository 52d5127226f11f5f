import API
import FoundationEssentials
import WebPages

/// How values are written on pages.
enum ConsoleText {
    /// `2026-11-28 09:00:00 UTC`; a dash for none.
    static func time(milliseconds: Int64) -> HTML {
        guard milliseconds != 0 else { return "–" }
        let text = Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(
            .iso8601.year().month().day().time(includingFractionalSeconds: false)
        )
        let words = text.split(separator: "T").joined(separator: " ")
        return "<time datetime=\"\(text)Z\">\(words) UTC</time>"
    }

    /// A table in a box that scrolls. The caption names it for screen readers.
    static func table(_ caption: String, _ heads: [String], _ rows: [[HTML]]) -> HTML {
        let head = heads.map { "<th scope=\"col\">\($0)</th>" as HTML }
        let body = rows.map { row -> HTML in "<tr>\(row.map { "<td>\($0)</td>" as HTML })</tr>\n" }
        return """
            <div class="scroll" role="region" aria-label="\(caption)" tabindex="0">
            <table>
            <caption>\(caption)</caption>
            <thead><tr>\(head)</tr></thead>
            <tbody>
            \(body)</tbody>
            </table>
            </div>

            """
    }

    /// A part of a page with a heading of its own.
    static func section(_ id: String, _ heading: String, _ content: HTML) -> HTML {
        """
        <section aria-labelledby="\(id)">
        <h2 id="\(id)">\(heading)</h2>
        \(content)</section>

        """
    }

    /// A field of a form.
    static func field(_ id: String, _ label: String, _ control: HTML, hint: String = "") -> HTML {
        let more: HTML = hint.isEmpty ? "" : "<p class=\"hint\" id=\"\(id)-hint\">\(hint)</p>\n"
        return "<div class=\"field\"><label for=\"\(id)\">\(label)</label>\n\(control)\n\(more)</div>\n"
    }

    /// The link to an account.
    static func account(_ id: String) -> HTML { "<a href=\"/accounts/\(id)\"><code>\(id)</code></a>" }
}
