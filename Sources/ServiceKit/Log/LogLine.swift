import Logging

/// One line of the log, made into bytes fact by fact. Whatever is in it, the result is exactly one line.
struct LogLine {
    /// The longest value; a longer one is cut.
    static let valueBytesMax = 8192

    /// Whether a JSON line uses the name itself; a fact of such a name gets an underscore before it.
    private static func isReserved(_ name: String) -> Bool {
        name == "time" || name == "level" || name == "logger" || name == "message"
    }

    private let format: LogFormat
    private var bytes: [UInt8] = []

    /// A line without facts.
    init(_ format: LogFormat, timestamp: LogTimestamp, level: Logger.Level, label: String, message: String) {
        self.format = format
        bytes.reserveCapacity(320)
        switch format {
        case .json:
            bytes += #"{"time":""#.utf8
            timestamp.append(to: &bytes)
            bytes += #"","level":""#.utf8
            bytes += level.rawValue.utf8
            bytes += #"","logger":"#.utf8
            bytes.appendJSONString(label)
            bytes += #","message":"#.utf8
            bytes.appendJSONString(message)
        case .text:
            timestamp.append(to: &bytes)
            bytes.append(UInt8(ascii: " "))
            let name = level.rawValue
            bytes += name.utf8
            bytes += repeatElement(UInt8(ascii: " "), count: max(1, 9 - name.utf8.count))
            bytes.appendPlain(label)
            bytes += ": ".utf8
            bytes.appendPlain(message)
        }
    }

    /// Appends a fact that is text.
    mutating func add(_ name: String, _ text: String) {
        addName(name)
        switch format {
        case .json: bytes.appendJSONString(text)
        case .text: bytes.appendPlain(text)
        }
    }

    /// Appends a fact that is a number.
    mutating func add(_ name: String, _ number: Int64) {
        addName(name)
        bytes.appendDecimal(number)
    }

    /// Appends a fact.
    mutating func add(_ name: String, _ value: Logger.MetadataValue) {
        addName(name)
        switch format {
        case .json: bytes.appendJSON(value)
        case .text: bytes.appendPlain("\(value)")
        }
    }

    private mutating func addName(_ name: String) {
        switch format {
        case .json:
            bytes.append(UInt8(ascii: ","))
            bytes.appendJSONString(Self.isReserved(name) ? "_" + name : name)
            bytes.append(UInt8(ascii: ":"))
        case .text:
            bytes.append(UInt8(ascii: " "))
            bytes.appendPlain(name)
            bytes.append(UInt8(ascii: "="))
        }
    }

    /// The line with its line end.
    consuming func finished() -> [UInt8] {
        if format == .json { bytes.append(UInt8(ascii: "}")) }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
