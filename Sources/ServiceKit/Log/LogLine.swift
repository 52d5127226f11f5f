import Logging

/// One line of the log: what it begins with, and then fact by fact.
struct LogLine {
    private let format: LogFormat
    private(set) var writer: LineWriter

    /// Writes the beginning of a line.
    init(_ writer: LineWriter, _ head: LogLineHead, at timestamp: LogTimestamp) {
        format = head.format
        self.writer = writer
        if format == .json { self.writer.write(#"{"time":""#) }
        timestamp.write(to: &self.writer)
        head.bytes.withUnsafeBufferPointer { self.writer.write($0) }
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
        case .json: writer.writeJSONName(name)
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

/// What lines of one level and message begin with, after their time.
struct LogLineHead: Sendable {
    let format: LogFormat
    fileprivate let bytes: [UInt8]

    /// Room for most lines, in bytes.
    private static let room = 1024

    /// The beginning of lines.
    init(_ format: LogFormat, _ level: Logger.Level, label: String, message: String) {
        self.format = format
        bytes = Self.text { writer in
            switch format {
            case .json:
                writer.write(#"","level":""#)
                writer.writePlain(level.rawValue)
                writer.write(#"","logger":"#)
                writer.writeJSONString(label)
                writer.write(#","message":"#)
                writer.writeJSONString(message)
            case .text:
                writer.write(UInt8(ascii: " "))
                let name = level.rawValue
                writer.writePlain(name)
                for _ in 0..<max(1, 9 - name.utf8.count) { writer.write(UInt8(ascii: " ")) }
                writer.writePlain(label)
                writer.write(": ")
                writer.writePlain(message)
            }
        } take: {
            Array($0)
        }
    }

    /// Writes a whole line, with its line end, into memory of the stack and hands it over.
    ///
    /// - Parameters:
    ///   - addFacts: adds the facts, in the order in which they are to stand. It is called again where the line turns out to be
    ///     longer than most.
    ///   - take: takes the line, which is gone when it returns.
    func writeLine(
        at timestamp: LogTimestamp,
        addFacts: (inout LogLine) -> Void,
        take: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        Self.text(
            { writer in
                var line = LogLine(writer, self, at: timestamp)
                addFacts(&line)
                line.end()
                writer = line.writer
            },
            take: take
        )
    }

    /// Hands over what is written, again and again into more memory until it fits.
    private static func text<Result>(
        _ write: (inout LineWriter) -> Void,
        take: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        // No more than the stack is asked for where the size is known.
        let short: Result? = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) {
            written(write, into: $0).map(take)
        }
        if let short { return short }
        var room = room
        while true {
            room *= 8
            let long: Result? = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: room) {
                written(write, into: $0).map(take)
            }
            if let long { return long }
        }
    }

    /// What is written into memory; nil if it does not fit.
    private static func written(
        _ write: (inout LineWriter) -> Void,
        into memory: UnsafeMutableBufferPointer<UInt8>
    ) -> UnsafeBufferPointer<UInt8>? {
        var writer = LineWriter(memory)
        write(&writer)
        return writer.isOverfull ? nil : UnsafeBufferPointer(rebasing: memory[..<writer.count])
    }
}
