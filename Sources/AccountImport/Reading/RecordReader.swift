/// The position at which an import resumes: the next byte, its line and row, and what surrounds it.
public struct ImportPosition: Sendable, Hashable, CustomStringConvertible {
    /// The offset of the next byte.
    public let offset: Int64
    /// The line of the next byte.
    public let line: Int64
    /// The number of the next row as it is reported: its line in CSV, the object's number from 1 in JSON.
    public let row: Int64
    let place: Int

    init(offset: Int64, line: Int64, row: Int64, place: Int) {
        self.offset = offset
        self.line = line
        self.row = row
        self.place = place
    }

    /// The position that ``description`` wrote; nil for anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int64($0) }
        guard parts.count == 4, let offset = parts[0], let line = parts[1], let row = parts[2], let place = parts[3],
            offset >= 0, line >= 1, row >= 1, 0...2 ~= place
        else { return nil }
        self.init(offset: offset, line: line, row: row, place: Int(place))
    }

    /// The four numbers, with colons between.
    public var description: String { "\(offset):\(line):\(row):\(place)" }
}

/// Reads the rows of a file, whether they are CSV with a header or JSON: the first character decides.
public struct RecordReader {
    /// A row. Its record is nil if the row can't be read, though the following rows can.
    struct Row {
        /// Its line in CSV; in JSON, where a line may have many objects, the object's number from 1.
        let number: Int64
        let record: ImportRecord?
    }

    private enum Format {
        case csv(CSVReader, columns: [String: Int])
        case json(JSONReader)
        /// Set while a row is read.
        case taken
    }

    private var format: Format
    /// The offset at which the last read row begins.
    private(set) var start: Int64 = 0

    /// A reader from the beginning.
    ///
    /// - Parameters:
    ///   - required: the columns that a CSV file must have; each may be one of several.
    ///   - member: the member that contains the objects in JSON, if they aren't at the top level.
    ///   - takesJSON: whether the file may be JSON.
    init(_ input: ByteInput, required: [[String]], member: String?, takesJSON: Bool) throws(ImportError) {
        var input = input
        try input.skipByteOrderMark()
        let begin = input.offset
        var first = try input.next()
        while let byte = first, [9, 10, 13, 32].contains(byte) { first = try input.next() }
        guard let first else { throw ImportError(input.name, "the file is empty") }
        input.seek(to: begin, line: 1)
        if takesJSON, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            format = .json(JSONReader(input, member: member))
        } else {
            var reader = CSVReader(input)
            let columns = try Self.header(&reader, required)
            format = .csv(reader, columns: columns)
        }
    }

    /// The next row; nil at the end.
    mutating func next() throws(ImportError) -> Row? {
        switch format {
        case .csv(var reader, let columns):
            // So that the buffers have one owner while they are written to and aren't copied.
            format = .taken
            defer { format = .csv(reader, columns: columns) }
            start = reader.input.offset
            guard let record = try reader.next() else { return nil }
            guard record.count == columns.count, let fields = record.fields else {
                return Row(number: record.line, record: nil)
            }
            return Row(number: record.line, record: ImportRecord(fields: fields, columns: columns))
        case .json(var reader):
            format = .taken
            defer { format = .json(reader) }
            guard let element = try reader.next() else { return nil }
            start = reader.start
            return Row(number: element.number, record: element.object.map { ImportRecord($0) })
        case .taken: preconditionFailure("a row is being read")
        }
    }

    /// Whether the file is JSON.
    var isJSON: Bool { if case .json = format { true } else { false } }

    /// The position of the next row.
    var position: ImportPosition {
        switch format {
        case .csv(let reader, _):
            let (offset, line) = (reader.input.offset, reader.input.line)
            return ImportPosition(offset: offset, line: line, row: line, place: JSONReader.Place.outside.rawValue)
        case .json(let reader):
            return ImportPosition(
                offset: reader.input.offset,
                line: reader.input.line,
                row: reader.count + 1,
                place: reader.place.rawValue
            )
        case .taken: preconditionFailure("a row is being read")
        }
    }

    /// Resumes at a position in this same file.
    mutating func seek(to position: ImportPosition) {
        switch format {
        case .csv(var reader, let columns):
            reader.input.seek(to: position.offset, line: position.line)
            format = .csv(reader, columns: columns)
        case .json(let reader):
            var input = reader.input
            input.seek(to: position.offset, line: position.line)
            let place = JSONReader.Place(rawValue: position.place) ?? .outside
            format = .json(JSONReader(input, member: reader.member, place: place, count: position.row - 1))
        case .taken: preconditionFailure("a row is being read")
        }
    }

    /// Goes to the row that begins at an offset, whatever its line and number.
    mutating func seek(toRowAt offset: Int64) {
        seek(to: ImportPosition(offset: offset, line: 1, row: 1, place: 0))
    }

    private static func header(
        _ reader: inout CSVReader,
        _ required: [[String]]
    ) throws(ImportError) -> [String: Int] {
        let file = reader.input.name
        guard let record = try reader.next() else { throw ImportError(file, "the file is empty") }
        guard let names = record.fields else { throw ImportError(file, line: record.line, "the header is not UTF-8") }
        var columns: [String: Int] = [:]
        for (index, name) in names.enumerated() {
            guard columns.updateValue(index, forKey: name.trimmedSpaces) == nil else {
                throw ImportError(file, line: record.line, "two columns are named \"\(name)\"")
            }
        }
        for choice in required where !choice.contains(where: { columns[$0] != nil }) {
            let wanted = choice.map { "\"\($0)\"" }.joined(separator: " or ")
            let there = names.prefix(40).map { "\"\($0.prefix(40))\"" }.joined(separator: ", ")
            throw ImportError(file, line: record.line, "there is no column \(wanted); there are \(there)")
        }
        return columns
    }
}
