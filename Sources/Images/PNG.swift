import Bytes

/// PNG (RFC 2083; third edition: https://www.w3.org/TR/png-3/).
enum PNG {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// What of a chunk that says how colours are meant is kept, by its length: none has room for a text.
    private static let colourChunks = ["cHRM": 32, "gAMA": 4, "sRGB": 1]

    private struct Chunk {
        let name: String
        let content: ArraySlice<UInt8>
    }

    /// Reads a file and writes the picture's parts, in the order that the standard wants.
    static func image(_ file: [UInt8]) throws(SafeImage.Fault) -> SafeImage {
        var reader = ByteReader(file[...])
        _ = try reader.take(signature.count)
        let header = try chunk(&reader)
        guard header.name == "IHDR" else { throw .malformed }
        let facts = try Header(header.content)
        var parts = Parts()
        while true {
            let chunk = try Self.chunk(&reader)
            if chunk.name == "IEND" {
                guard chunk.content.isEmpty else { throw .malformed }
                break
            }
            try parts.add(chunk, facts)
        }
        guard !parts.data.isEmpty, facts.colour != 3 || parts.palette != nil else { throw .malformed }

        var output = signature
        output.reserveCapacity(file.count)
        append("IHDR", header.content, to: &output)
        for name in colourChunks.keys.sorted() {
            if let content = parts.colours[name] { append(name, content, to: &output) }
        }
        if let palette = parts.palette { append("PLTE", palette, to: &output) }
        if let transparency = parts.transparency { append("tRNS", transparency, to: &output) }
        if let orientation = parts.orientation { append("eXIf", orientation.tiff[...], to: &output) }
        for data in parts.data { append("IDAT", data, to: &output) }
        append("IEND", [], to: &output)
        return SafeImage(.png, output, width: facts.width, height: facts.height)
    }

    /// What IHDR tells.
    private struct Header {
        let width: Int
        let height: Int
        /// 0 grey, 2 true colour, 3 palette, 4 grey with alpha, 6 true colour with alpha.
        let colour: Int

        init(_ content: ArraySlice<UInt8>) throws(SafeImage.Fault) {
            guard content.count == 13 else { throw .malformed }
            var reader = ByteReader(content)
            width = try reader.bigEndian(4)
            height = try reader.bigEndian(4)
            let depth = try reader.bigEndian(1)
            colour = try reader.bigEndian(1)
            let depths: [Int: [Int]] = [0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16]]
            guard depths[colour]?.contains(depth) == true, try reader.bigEndian(2) == 0, try reader.byte() <= 1 else {
                throw .malformed
            }
            try SafeImage.check(width: width, height: height)
        }
    }

    /// What of the file is kept.
    private struct Parts {
        var colours: [String: ArraySlice<UInt8>] = [:]
        var palette: ArraySlice<UInt8>?
        var transparency: ArraySlice<UInt8>?
        var orientation: Orientation?
        var data: [ArraySlice<UInt8>] = []
        /// Something stood behind the picture's data: no more of it may follow.
        private var isDataOver = false

        mutating func add(_ chunk: Chunk, _ header: Header) throws(SafeImage.Fault) {
            if chunk.name == "IDAT" {
                guard !isDataOver else { throw .malformed }
                // Empty ones hold nothing, and each would cost a head.
                if !chunk.content.isEmpty { data.append(chunk.content) }
                return
            }
            let isBeforeData = data.isEmpty
            isDataOver = !isBeforeData
            switch chunk.name {
            case "PLTE":
                let count = chunk.content.count
                guard isBeforeData, palette == nil, count > 0, count % 3 == 0, count <= 768,
                    header.colour != 0, header.colour != 4
                else { throw .malformed }
                palette = chunk.content
            case "tRNS":
                guard isBeforeData, transparency == nil else { throw .malformed }
                let isRight =
                    switch header.colour {
                    case 0: chunk.content.count == 2
                    case 2: chunk.content.count == 6
                    case 3: palette.map { 1...$0.count / 3 ~= chunk.content.count } ?? false
                    default: false
                    }
                guard isRight else { throw .malformed }
                transparency = chunk.content
            case "eXIf":
                if orientation == nil { orientation = Orientation(tiff: chunk.content) }
            default:
                if colourChunks[chunk.name] == chunk.content.count, isBeforeData, palette == nil,
                    colours[chunk.name] == nil
                {
                    colours[chunk.name] = chunk.content
                } else if chunk.name.utf8.first.map({ $0 & 0x20 == 0 }) ?? true {
                    // Without what it can't do without the picture is another one (section 5.4).
                    throw .malformed
                }
            }
        }
    }

    /// The next chunk. Its checksum must be right, also where it is left out: then it is a chunk.
    private static func chunk(_ reader: inout ByteReader) throws(SafeImage.Fault) -> Chunk {
        let length = try reader.bigEndian(4)
        guard length <= Int(Int32.max) else { throw .malformed }
        let checked = try reader.take(4 + length)
        guard try reader.bigEndian(4) == Int(CRC32.of(checked)) else { throw .malformed }
        let name = checked.prefix(4)
        guard name.allSatisfy({ UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }) else { throw .malformed }
        return Chunk(name: String(decoding: name, as: UTF8.self), content: checked.dropFirst(4))
    }

    private static func append(_ name: String, _ content: ArraySlice<UInt8>, to output: inout [UInt8]) {
        output.append(bigEndian: content.count, byteCount: 4)
        let start = output.count
        output += name.utf8
        output += content
        output.append(bigEndian: Int(CRC32.of(output[start...])), byteCount: 4)
    }
}

/// The checksum of chunks (RFC 2083 section 15).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1 }
    }

    static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.withUnsafeBufferPointer { bytes in
            table.withUnsafeBufferPointer { table in
                var sum = UInt32.max
                for byte in bytes { sum = table[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8 }
                return ~sum
            }
        }
    }
}
