#!/usr/bin/env python3
"""Writes the images of Files/ with Pillow: `.venv/bin/python Tests/ImagesTests/make_files.py`. They are committed, so that the tests
need no Pillow. What a file must lose is the word SECRET."""

import io
import pathlib
import random
import struct
import zlib

from PIL import Image, PngImagePlugin

FOLDER = pathlib.Path(__file__).parent / "Files"
SECRET = "SECRET"
SIZE = (16, 12)
XMP = f"<x:xmpmeta xmlns:x='adobe:ns:meta/'>{SECRET}</x:xmpmeta>".encode()


def picture(mode="RGB", size=SIZE):
    """Colours that run into each other, with some noise."""
    noise = random.Random(7)
    image = Image.new("RGBA", size)
    image.putdata([
        (x * 15 % 256, y * 20 % 256, noise.randrange(256), 255 - (x + y) * 8 % 256)
        for y in range(size[1]) for x in range(size[0])])
    return image.convert(mode)


def exif(orientation):
    """An Exif block with data that must be removed."""
    block = Image.Exif()
    block[0x0112] = orientation
    block[0x010F] = SECRET
    block.get_ifd(0x8825)[1] = "N"
    block.get_ifd(0x8825)[29] = SECRET
    return block


def saved(image, kind, **how):
    file = io.BytesIO()
    image.save(file, kind, **how)
    return file.getvalue()


def png_chunk(name, content):
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def chatty_png():
    """Texts, an orientation after the image data, a colour profile, a gamma, and data after the end."""
    texts = PngImagePlugin.PngInfo()
    texts.add_text("Author", SECRET)
    texts.add_itxt("XML:com.adobe.xmp", XMP.decode())
    file = saved(picture(), "PNG", pnginfo=texts, icc_profile=SECRET.encode() * 20)
    end = file.rindex(b"IEND") - 4
    header = 8 + 25
    gamma = png_chunk(b"gAMA", struct.pack(">I", 45_455))
    return file[:header] + gamma + file[header:end] + png_chunk(b"eXIf", exif(6).tobytes()[6:]) + file[end:] + SECRET.encode()


def interlaced_png():
    """Adam7, which Pillow reads and doesn't write."""
    image = picture("L")
    rows = b""
    for x0, y0, dx, dy in ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)):
        for y in range(y0, image.height, dy):
            row = bytes(image.getpixel((x, y)) for x in range(x0, image.width, dx))
            rows += b"\0" + row if row else b""
    header = struct.pack(">IIBBBBB", *image.size, 8, 0, 0, 0, 1)
    data = zlib.compress(rows)
    return (
        b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", data[:9]) + png_chunk(b"IDAT", data[9:])
        + png_chunk(b"IEND", b""))


def main():
    FOLDER.mkdir(exist_ok=True)
    palette = picture().quantize(17)
    palette.info["transparency"] = bytes(range(0, 170, 10))
    film = [picture(), picture().transpose(Image.Transpose.ROTATE_180)]
    files = {
        "rgb.png": saved(picture(), "PNG"),
        "rgba.png": saved(picture("RGBA"), "PNG"),
        "grey.png": saved(picture("L"), "PNG"),
        "bits.png": saved(picture("1"), "PNG"),
        "deep.png": saved(picture("L").convert("I;16"), "PNG"),
        "palette.png": saved(palette, "PNG", transparency=palette.info["transparency"]),
        "keyed.png": saved(picture(), "PNG", transparency=(15, 20, 3)),
        "interlaced.png": interlaced_png(),
        "chatty.png": chatty_png(),
        "film.png": saved(film[0], "PNG", save_all=True, append_images=film[1:]),
        "baseline.jpeg": saved(picture(), "JPEG"),
        "progressive.jpeg": saved(picture(size=(40, 30)), "JPEG", progressive=True),
        "grey.jpeg": saved(picture("L"), "JPEG"),
        "cmyk.jpeg": saved(picture("CMYK"), "JPEG"),
        "rgb.jpeg": saved(picture(), "JPEG", keep_rgb=True),
        "restarts.jpeg": saved(picture(size=(64, 48)), "JPEG", restart_marker_blocks=2),
        "chatty.jpeg": saved(
            picture(), "JPEG", exif=exif(6), comment=SECRET, icc_profile=SECRET.encode() * 20, xmp=XMP, dpi=(300, 150))
            + SECRET.encode(),
        "lossy.webp": saved(picture(), "WEBP"),
        "lossless.webp": saved(picture("RGBA"), "WEBP", lossless=True),
        "alpha.webp": saved(picture("RGBA"), "WEBP"),
        "chatty.webp": saved(picture(), "WEBP", exif=exif(6), xmp=XMP, icc_profile=SECRET.encode() * 20) + SECRET.encode(),
        "chatty-lossless.webp": saved(picture("RGBA"), "WEBP", lossless=True, exif=exif(3), xmp=XMP),
        "film.bad.webp": saved(film[0], "WEBP", save_all=True, append_images=film[1:]),
        "picture.bad.gif": saved(picture("P"), "GIF"),
        "wide.bad.png": saved(Image.new("1", (4097, 1)), "PNG"),
        "high.bad.jpeg": saved(Image.new("L", (1, 4097)), "JPEG"),
        "wide.bad.webp": saved(Image.new("L", (4097, 1)), "WEBP", lossless=True),
    }
    for name, content in files.items():
        (FOLDER / name).write_bytes(content)
    for path in FOLDER.iterdir():
        assert path.name in files, f"{path.name} isn't made any more"


main()
