import Logging

/// One line of the log: what it begins with, and then fact by fact.
struct LogLine {
    private let format: LogFormat
    private(set) var writer: LineWriter

    /// Writes the beginning of a line.
    init(_ writer: LineWriter, _ format: LogFormat, _ head: LogLineHead) {
        self.format = format
        self.writer = writer
        switch format {
        case .json:
            self.writer.write(#"{"time":""#)
            head.timestamp.write(to: &self.writer)
            self.writer.write(#"","level":""#)
            self.writer.writePlain(head.level.rawValue)
            self.writer.write(#"","logger":"#)
            self.writer.writeJSONString(head.label)
            self.writer.write(#","message":"#)
            self.writer.writeJSONString(head.message)
        case .text:
            head.timestamp.write(to: &self.writer)
            self.writer.write(UInt8(ascii: " "))
            let name = head.level.rawValue
            self.writer.writePlain(name)
            for _ in 0..<max(1, 9 - name.utf8.count) { self.writer.write(UInt8(ascii: " ")) }
            self.writer.writePlain(head.label)
            self.writer.write(": ")
            self.writer.writePlain(head.message)
        }
    }

    /// A fact that is text. Its name is none that a line uses itself.
    mutating func add(_ name: StaticString, _ text: String) {
        writeName(name)
        switch format {
        case .json: writer.writeJSONString(text)
        case .text: writer.writePlain(text)
        }
    }

    /// A fact that is a number. Its name is none that a line uses itself.
    mutating func add(_ name: StaticString, _ number: Int64) {
        writeName(name)
        writer.write(number)
    }

    private mutating func writeName(_ name: StaticString) {
        switch format {
        case .json:
            writer.write(#",""#)
            writer.write(name)
            writer.write(#"":"#)
        case .text:
            writer.write(UInt8(ascii: " "))
            writer.write(name)
            writer.write(UInt8(ascii: "="))
        }
    }

    /// A fact.
    mutating func add(_ name: String, _ value: Logger.MetadataValue) {
        switch format {
        case .json:
            writer.write(UInt8(ascii: ","))
            writer.writeJSONString(Self.reservedNames.contains(name) ? "_" + name : name)
            writer.write(UInt8(ascii: ":"))
            writeJSON(value)
        case .text:
            writer.write(UInt8(ascii: " "))
            writer.writePlain(name)
            writer.write(UInt8(ascii: "="))
            writer.writePlain("\(value)")
        }
    }

    /// The names that a JSON line uses itself; a fact of such a name gets an underscore before it.
    private static let reservedNames: Set = ["time", "level", "logger", "message"]

    /// A fact's value: numbers and Booleans bare, everything else as strings, arrays and objects.
    private mutating func writeJSON(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): writer.writeJSONString(text)
        case .stringConvertible(let value):
            switch value {
            case is Int, is Int32, is Int64, is UInt, is UInt32, is UInt64, is Bool:
                writer.writePlain(value.description)
            case let number as Double where number.isFinite: writer.writePlain(number.description)
            default: writer.writeJSONString(value.description)
            }
        case .array(let values):
            writer.write(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { writer.write(UInt8(ascii: ",")) }
                writeJSON(value)
            }
            writer.write(UInt8(ascii: "]"))
        case .dictionary(let members):
            writer.write(UInt8(ascii: "{"))
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { writer.write(UInt8(ascii: ",")) }
                writer.writeJSONString(member.key)
                writer.write(UInt8(ascii: ":"))
                writeJSON(member.value)
            }
            writer.write(UInt8(ascii: "}"))
        }
    }

    /// Ends the line.
    mutating func end() {
        if format == .json { writer.write(UInt8(ascii: "}")) }
        writer.write(UInt8(ascii: "\n"))
    }
}

/// What a line of the log begins with.
struct LogLineHead {
    var timestamp: LogTimestamp
    var level: Logger.Level
    var label: String
    var message: String

    /// Room for most lines, in bytes.
    private static let room = 1024

    /// The whole line, with its line end.
    ///
    /// - Parameter addFacts: adds the facts, in the order in which they are to stand. It is called again where the line turns out
    ///   to be longer than most.
    func line(_ format: LogFormat, addFacts: (inout LogLine) -> Void) -> [UInt8] {
        var room = Self.room
        while true {
            var isOverfull = false
            let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                var line = LogLine(LineWriter(buffer), format, self)
                addFacts(&line)
                line.end()
                count = line.writer.count
                isOverfull = line.writer.isOverfull
            }
            if !isOverfull { return bytes }
            room *= 8
        }
    }
}
