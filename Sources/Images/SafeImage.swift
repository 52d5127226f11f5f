/// An image with nothing in its file but the picture: what a stranger's file may be kept and served as.
///
/// The container is walked and not the picture: no decoder runs here, so that none can be attacked here. What of the container isn't
/// on a list of what pictures need is left out, such as texts, places, previews and what follows the image; of Exif only the
/// orientation is kept. Work and memory are proportional to the file.
public struct SafeImage: Sendable, Hashable {
    /// The kinds of files, by their media types.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case png = "image/png"
        case jpeg = "image/jpeg"
        case webp = "image/webp"
    }

    /// Why a file is none.
    public enum Fault: Error, Sendable, Hashable {
        /// It begins like none of the kinds.
        case unknownKind
        /// It ends before the image does.
        case truncated
        /// It breaks the rules of its container.
        case malformed
        /// The picture has more than ``SafeImage/pixelsMax`` pixels in a row or a column.
        case tooManyPixels
        /// It is a film.
        case animated
        /// It has what few programs read, such as arithmetic coding, or more parts than pictures have.
        case unsupported
    }

    /// The most pixels of a row, and of a column.
    public static let pixelsMax = 4096

    /// What the file is.
    public let kind: Kind
    /// The file.
    public let bytes: [UInt8]
    /// Pixels of a row, as they are stored: before the orientation is applied.
    public let width: Int
    /// Pixels of a column, likewise.
    public let height: Int

    /// The image of a file, whose first bytes say what it is.
    public init(_ file: [UInt8]) throws(Fault) {
        if file.starts(with: PNG.signature) {
            self = try PNG.image(file)
        } else if file.starts(with: [0xFF, 0xD8]) {
            self = try JPEG.image(file)
        } else if file.starts(with: WebP.riff), file.dropFirst(8).starts(with: WebP.name) {
            self = try WebP.image(file)
        } else {
            throw .unknownKind
        }
    }

    init(_ kind: Kind, _ bytes: [UInt8], width: Int, height: Int) {
        self.kind = kind
        self.bytes = bytes
        self.width = width
        self.height = height
    }

    /// Throws unless a picture may have so many pixels.
    static func check(width: Int, height: Int) throws(Fault) {
        guard width > 0, height > 0 else { throw .malformed }
        guard width <= pixelsMax, height <= pixelsMax else { throw .tooManyPixels }
    }
}
