import Glibc

/// The files of a report.
public struct ReportFiles: Sendable {
    /// The report for programs.
    public let json: String
    /// The HTML page.
    public let html: String

    /// `NAME.json` and `NAME.html`.
    public init(name: String) {
        json = name + ".json"
        html = name + ".html"
    }

    /// Throws `LoadError` if the files can't be written, so that a long run doesn't fail at its end.
    public func checkWritable() throws(LoadError) {
        for path in [json, html] {
            let wasThere = access(path, F_OK) == 0
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { throw Self.error(path) }
            close(descriptor)
            if !wasThere { unlink(path) }
        }
    }

    /// Writes both files, replacing existing ones. Throws `LoadError`.
    public func write(_ report: RunReport) throws(LoadError) {
        try Self.write(JSONReport.bytes(report), to: json)
        try Self.write(Array(HTMLReport.text(report).utf8), to: html)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(LoadError) {
        guard let file = fopen(path, "we") else { throw error(path) }
        let written = fwrite(bytes, 1, bytes.count, file)
        guard fclose(file) == 0, written == bytes.count else { throw error(path) }
    }

    private static func error(_ path: String) -> LoadError {
        LoadError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }
}
