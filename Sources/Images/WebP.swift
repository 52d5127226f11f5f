import Bytes

/// WebP (RFC 9649): a RIFF file with a lossy (VP8, RFC 6386) or lossless (VP8L) picture.
enum WebP {
    static let riff = Array("RIFF".utf8)
    static let name = Array("WEBP".utf8)

    /// Flags of VP8X (RFC 9649 section 2.7).
    private enum Flag {
        static let alpha: UInt8 = 0x10
        static let exif: UInt8 = 0x08
        static let animation: UInt8 = 0x02
    }

    private struct Picture {
        /// `VP8 ` or `VP8L`.
        let name: String
        let content: ArraySlice<UInt8>
        let width: Int
        let height: Int
        /// Whether it has transparency of its own, which VP8 hasn't.
        let hasAlpha: Bool
    }

    /// Reads a file and writes the picture's parts, in the order that the standard wants.
    static func image(_ file: [UInt8]) throws(SafeImage.Fault) -> SafeImage {
        var reader = ByteReader(file[...])
        _ = try reader.take(4)
        let length = try reader.littleEndian(4)
        guard length >= 12, length % 2 == 0 else { throw .malformed }
        // What follows the file's own end is none of it.
        var chunks = ByteReader(try reader.take(length))
        _ = try chunks.take(4)

        var canvas: (width: Int, height: Int)?
        var alpha: ArraySlice<UInt8>?
        var picture: Picture?
        var orientation: Orientation?
        var isFirst = true
        while !chunks.isAtEnd {
            let (name, content) = try chunk(&chunks)
            switch name {
            case "VP8X":
                guard isFirst, content.count == 10 else { throw .malformed }
                guard content[content.startIndex] & Flag.animation == 0 else { throw .animated }
                canvas = (content.dropFirst(4).prefix(3).littleEndian + 1, content.dropFirst(7).littleEndian + 1)
            case "VP8 ", "VP8L":
                guard picture == nil else { throw .malformed }
                picture = try self.picture(name, content)
            case "ALPH":
                guard canvas != nil, alpha == nil, picture == nil, !content.isEmpty else { throw .malformed }
                alpha = content
            case "EXIF":
                if orientation == nil { orientation = Orientation(tiff: content) }
            case "ANIM", "ANMF": throw .animated
            default: break
            }
            isFirst = false
        }
        guard let picture else { throw .truncated }
        if let canvas, canvas != (picture.width, picture.height) { throw .malformed }
        return SafeImage(
            .webp,
            assembled(picture, alpha: picture.name == "VP8 " ? alpha : nil, orientation),
            width: picture.width,
            height: picture.height
        )
    }

    /// A file of these parts: the simple one where there is nothing but the picture.
    private static func assembled(_ picture: Picture, alpha: ArraySlice<UInt8>?, _ orientation: Orientation?) -> [UInt8]
    {
        var chunks = name
        if alpha != nil || orientation != nil {
            let hasAlpha = alpha != nil || picture.hasAlpha
            var content: [UInt8] = [(hasAlpha ? Flag.alpha : 0) | (orientation == nil ? 0 : Flag.exif), 0, 0, 0]
            content.append(littleEndian: picture.width - 1, byteCount: 3)
            content.append(littleEndian: picture.height - 1, byteCount: 3)
            append("VP8X", content[...], to: &chunks)
        }
        if let alpha { append("ALPH", alpha, to: &chunks) }
        append(picture.name, picture.content, to: &chunks)
        if let orientation { append("EXIF", orientation.tiff[...], to: &chunks) }
        var file = riff
        file.append(littleEndian: chunks.count, byteCount: 4)
        return file + chunks
    }

    private static func picture(_ name: String, _ content: ArraySlice<UInt8>) throws(SafeImage.Fault) -> Picture {
        var reader = ByteReader(content)
        let width: Int
        let height: Int
        var hasAlpha = false
        if name == "VP8 " {
            // RFC 6386 section 9.1: a key frame that is shown, of a first partition that is there.
            let tag = try reader.littleEndian(3)
            guard tag & 1 == 0, tag >> 4 & 1 == 1, try reader.bigEndian(3) == 0x9D012A else { throw .malformed }
            width = try reader.littleEndian(2) & 0x3FFF
            height = try reader.littleEndian(2) & 0x3FFF
            guard tag >> 5 <= reader.leftCount else { throw .truncated }
        } else {
            // RFC 9649 section 3.4.
            guard try reader.byte() == 0x2F else { throw .malformed }
            let head = try reader.littleEndian(4)
            width = (head & 0x3FFF) + 1
            height = (head >> 14 & 0x3FFF) + 1
            hasAlpha = head >> 28 & 1 == 1
            guard head >> 29 == 0 else { throw .unsupported }
        }
        try SafeImage.check(width: width, height: height)
        return Picture(name: name, content: content, width: width, height: height, hasAlpha: hasAlpha)
    }

    /// The next chunk, which has an even number of bytes.
    private static func chunk(
        _ reader: inout ByteReader
    ) throws(SafeImage.Fault) -> (name: String, content: ArraySlice<UInt8>) {
        let name = String(decoding: try reader.take(4), as: UTF8.self)
        let content = try reader.take(try reader.littleEndian(4))
        if content.count % 2 == 1 { _ = try reader.byte() }
        return (name, content)
    }

    private static func append(_ name: String, _ content: ArraySlice<UInt8>, to output: inout [UInt8]) {
        output += name.utf8
        output.append(littleEndian: content.count, byteCount: 4)
        output += content
        if content.count % 2 == 1 { output.append(0) }
    }
}
