import Foundation
import Images
import Testing

/// Files made with Pillow (make_files.py). Pillow itself checks that the pictures look the same afterwards: see
/// Tests/EndToEnd/test_avatars.py.
enum Files {
    static let folder = Bundle.module.bundleURL.appending(path: "Files")
    static let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    static let good = names.filter { !$0.contains(".bad.") }
    static let secret = Array("SECRET".utf8)

    static func read(_ name: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: folder.appending(path: name))) }

    /// The kind, from a file's name.
    static func kind(_ name: String) -> SafeImage.Kind? {
        SafeImage.Kind(rawValue: "image/\(name.split(separator: ".").last ?? "")")
    }
}

struct SafeImageTests {
    @Test func `There are files of each kind`() {
        #expect(Files.good.count == 22)
        for kind in SafeImage.Kind.allCases { #expect(Files.good.count { Files.kind($0) == kind } >= 5) }
    }

    @Test(arguments: Files.good)
    func `A picture's kind is recognized, and cleaning it twice changes nothing`(name: String) throws {
        let file = try Files.read(name)
        let image = try SafeImage(file)
        #expect(image.kind == Files.kind(name))
        let size =
            switch name {
            case "progressive.jpeg": (40, 30)
            case "restarts.jpeg": (64, 48)
            default: (16, 12)
            }
        #expect((image.width, image.height) == size)
        // The segments of JFIF, orientation and Adobe may be written where the file had shorter ones.
        #expect(image.bytes.count <= file.count + 64)
        #expect(try SafeImage(image.bytes) == image)
    }

    @Test(arguments: Files.good)
    func `No secret of a file is left`(name: String) throws {
        let file = try Files.read(name)
        #expect(file.contains(Files.secret) == name.hasPrefix("chatty"))
        #expect(!(try SafeImage(file).bytes.contains(Files.secret)))
    }

    @Test(arguments: [
        ("chatty.png", 6), ("chatty.jpeg", 6), ("chatty.webp", 6), ("chatty-lossless.webp", 3), ("rgb.png", 1),
        ("lossy.webp", 1),
        ("baseline.jpeg", 1),
    ])
    func `Exif keeps only the orientation, and is removed without one`(name: String, value: UInt8) throws {
        let bytes = try SafeImage(Files.read(name)).bytes
        // A directory of one entry: the orientation as one short number.
        let start: [UInt8] = Array("MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0]
        let end: [UInt8] = [0, 0, 0, 0, 0, 0]
        #expect(bytes.contains(start + [value] + end) == (value != 1))
        #expect(bytes.contains(start) == (value != 1))
    }

    @Test(arguments: [
        ("film.bad.webp", SafeImage.Fault.animated), ("picture.bad.gif", .unknownKind),
        ("wide.bad.png", .tooManyPixels),
        ("high.bad.jpeg", .tooManyPixels), ("wide.bad.webp", .tooManyPixels),
    ])
    func `A refused picture has an error with the reason`(name: String, fault: SafeImage.Fault) throws {
        let file = try Files.read(name)
        #expect(throws: fault) { try SafeImage(file) }
    }

    @Test(arguments: [
        [], [0x89], Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8), Array("RIFF\u{4}\0\0\0WAVE".utf8),
    ])
    func `An unknown beginning is an unknown kind`(file: [UInt8]) {
        #expect(throws: SafeImage.Fault.unknownKind) { try SafeImage(file) }
    }

    /// Data after the image is not part of it: cutting there removes nothing.
    @Test(arguments: Files.good)
    func `A file that is cut anywhere is refused`(name: String) throws {
        var file = try Files.read(name)
        let whole = try SafeImage(file)
        if name.hasPrefix("chatty"), file.suffix(Files.secret.count).elementsEqual(Files.secret) {
            file.removeLast(Files.secret.count)
            #expect(try SafeImage(file) == whole)
        }
        for count in 0..<file.count {
            #expect(throws: SafeImage.Fault.self, "\(count) bytes of \(name)") {
                try SafeImage(Array(file.prefix(count)))
            }
        }
    }

    @Test func `A wrong checksum is refused, also where the chunk would be left out`() throws {
        let file = try Files.read("chatty.png")
        let text = try #require(file.firstRange(of: Array("tEXtAuthor".utf8)))
        for offset in [text.lowerBound + 12, file.firstRange(of: Array("IDAT".utf8))!.upperBound + 3] {  // there is one
            var changed = file
            changed[offset] ^= 1
            #expect(throws: SafeImage.Fault.malformed) { try SafeImage(changed) }
        }
    }

    @Test func `An unknown chunk that is critical is refused`() throws {
        let file = try Files.read("rgb.png")
        let empty: [UInt8] = [0, 0, 0, 0] + Array("ABCD".utf8) + [0xDB, 0x17, 0x20, 0xA5]
        let changed = file.prefix(33) + empty + file.dropFirst(33)
        #expect(throws: SafeImage.Fault.malformed) { try SafeImage(Array(changed)) }
    }

    @Test func `A JPEG with too many scans is refused`() throws {
        let file = try Files.read("progressive.jpeg")
        let scan = try #require(file.firstRange(of: [0xFF, 0xDA]))
        let end = try #require(file[scan.upperBound...].firstRange(of: [0xFF, 0xC4]))
        let repeated = Array(repeating: Array(file[scan.lowerBound..<end.lowerBound]), count: 64).flatMap(\.self)
        let changed = file[..<scan.lowerBound] + repeated + file[scan.lowerBound...]
        #expect(throws: SafeImage.Fault.unsupported) { try SafeImage(Array(changed)) }
    }

    @Test func `Arithmetic coding, other sample sizes and unknown segments are refused`() throws {
        let file = try Files.read("baseline.jpeg")
        let frame = try #require(file.firstRange(of: [0xFF, 0xC0]))
        for marker: UInt8 in [0xC3, 0xC5, 0xC9, 0xCC, 0xDC, 0x01, 0xF0] {
            var changed = file
            changed[frame.lowerBound + 1] = marker
            #expect(throws: SafeImage.Fault.unsupported) { try SafeImage(changed) }
        }
        var deep = file
        deep[frame.lowerBound + 4] = 12
        #expect(throws: SafeImage.Fault.unsupported) { try SafeImage(deep) }
    }

    @Test func `A canvas of another size than its picture is refused`() throws {
        var file = try Files.read("alpha.webp")
        let canvas = try #require(file.firstRange(of: Array("VP8X".utf8)))
        file[canvas.upperBound + 8] += 1
        #expect(throws: SafeImage.Fault.malformed) { try SafeImage(file) }
    }
}

extension [UInt8] {
    fileprivate func contains(_ part: [UInt8]) -> Bool { firstRange(of: part) != nil }
}
