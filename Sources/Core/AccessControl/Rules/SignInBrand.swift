// SPDX-License-Identifier: Apache-2.0

/// The organization that the pages show: the `brand` block of the `sign-in` block.
public struct SignInBrand: Sendable, Hashable {
    /// The name in titles and at the end of pages; the default is Gatehouse.
    public var name = "Gatehouse"
    /// The message above the form of the sign-in page; nil if there is none.
    public var message: LocalizedText?
    /// The text at the end of all pages, after the name; nil if there is none.
    public var footer: LocalizedText?
    /// The URL of a page with help, beginning with `https://`; nil if there is none.
    public var helpLink: LocalizedText?
    /// The text of the link to the page with help; nil for the word "Help" in the language of the page.
    public var helpText: LocalizedText?
    /// The image at the beginning of all pages; nil if there is none.
    public var logo: Logo?

    /// Creates the default brand.
    public init() {}

    /// An image file.
    public struct Logo: Sendable, Hashable {
        /// The format of an image.
        public enum Format: Sendable, Hashable {
            /// A drawing in XML (Scalable Vector Graphics).
            case svg
            /// A bitmap (ISO/IEC 15948).
            case png
        }

        /// The maximum size of a file: 64 KiB.
        public static let maximumSize = 64 << 10

        /// The format.
        public let format: Format
        /// The bytes of the file.
        public let bytes: [UInt8]

        /// Creates a logo; nil if the bytes are neither an SVG nor a PNG image.
        ///
        /// The format is that of the content, not that of the name of the file.
        public init?(_ bytes: [UInt8]) {
            if Self.isPNG(bytes) {
                format = .png
            } else if Self.isSVG(bytes) {
                format = .svg
            } else {
                return nil
            }
            self.bytes = bytes
        }

        private static func isPNG(_ bytes: [UInt8]) -> Bool {
            let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
            return bytes.starts(with: signature) && bytes.dropFirst(12).starts(with: "IHDR".utf8)
        }

        /// Returns whether bytes are UTF-8, and `svg` is the first element, after a declaration, comments and a
        /// document type.
        private static func isSVG(_ bytes: [UInt8]) -> Bool {
            guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { return false }
            var rest = Substring(text).utf8
            if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
            while true {
                rest = rest.drop { " \t\r\n".utf8.contains($0) }
                guard rest.first == UInt8(ascii: "<") else { return false }
                let end: StaticString
                if rest.starts(with: "<!--".utf8) {
                    end = "-->"
                } else if rest.starts(with: "<?".utf8) {
                    end = "?>"
                } else if rest.starts(with: "<!DOCTYPE".utf8) {
                    end = ">"
                } else {
                    guard rest.starts(with: "<svg".utf8), let next = rest.dropFirst(4).first else { return false }
                    return " \t\r\n/>".utf8.contains(next)
                }
                while !rest.isEmpty, !rest.starts(with: end.description.utf8) { rest = rest.dropFirst() }
                rest = rest.dropFirst(end.utf8CodeUnitCount)
            }
        }
    }
}
