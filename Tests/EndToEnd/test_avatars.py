"""Pictures: an upload keeps only its pixels, according to Pillow, and how it is served."""

import concurrent.futures
import io
import pathlib
import random

import pytest
from PIL import Image, ImageOps, PngImagePlugin

import process_table
from app import letters

FILES = pathlib.Path(__file__).resolve().parents[1] / "ImagesTests/Files"
GOOD = sorted(path.name for path in FILES.iterdir() if ".bad." not in path.name)
BAD = sorted(path.name for path in FILES.iterdir() if ".bad." in path.name)
TYPES = {"PNG": "image/png", "JPEG": "image/jpeg", "WEBP": "image/webp"}
SECRET = b"SECRET"
HALF_A_MEBIBYTE = 512 * 1024


def put(app, content, content_type="image/png"):
    return app.gateway.send("PUT", "/me/avatar", token=app.access_token, body=content, headers={"Content-Type": content_type})


def upload(app, content):
    """Uploads a picture; returns its path."""
    url = put(app, content).expect(200)["avatar_url"]
    base = f"http://{app.stack.addresses['gateway']}"
    assert url.startswith(f"{base}/avatars/")
    return url.removeprefix(base)


def pixels(content):
    """Each pixel as a program shows it: colours decoded, turned upright, with transparency."""
    image = Image.open(io.BytesIO(content))
    image.seek(0)
    image = ImageOps.exif_transpose(image)
    if image.mode != "I;16":
        image = image.convert("RGBA") if image.mode != "CMYK" else image
    return image.mode, image.size, image.tobytes()


@pytest.mark.parametrize("name", GOOD)
def test_the_pixels_are_the_same_and_nothing_else_is_left(app, gateway, name):
    content = (FILES / name).read_bytes()
    answer = gateway.get(upload(app, content))
    assert answer.status == 200, answer.content
    before, after = Image.open(io.BytesIO(content)), Image.open(io.BytesIO(answer.content))
    after.verify()
    assert answer.headers["Content-Type"] == TYPES[before.format] == TYPES[after.format]
    assert pixels(answer.content) == pixels(content)
    assert SECRET not in answer.content
    after = Image.open(io.BytesIO(answer.content))
    exif = dict(after.getexif())
    orientation = Image.open(io.BytesIO(content)).getexif().get(0x0112)
    assert exif == ({0x0112: orientation} if orientation else {})
    assert not {"icc_profile", "xmp", "XML:com.adobe.xmp", "comment", "Author"} & set(after.info)
    assert getattr(after, "n_frames", 1) == 1


def test_pictures_like_those_of_users(app):
    """Larger pictures of many kinds, made here."""
    noise = random.Random(20261123)
    for number in range(12):
        size = (noise.randrange(50, 400), noise.randrange(50, 400))
        image = Image.effect_noise(size, 60).convert("RGB")
        image.paste(Image.linear_gradient("L").resize(size).convert("RGB"), (size[0] // 3, 0))
        kind = ("PNG", "JPEG", "WEBP")[number % 3]
        exif = Image.Exif()
        exif[0x0112] = number % 8 + 1
        exif[0x010E] = "SECRET"
        how = {
            "PNG": {"optimize": number % 2 == 0},
            "JPEG": {"progressive": number % 2 == 0, "quality": 60 + number, "subsampling": number % 3, "optimize": number % 4 == 0},
            "WEBP": {"lossless": number % 2 == 0, "quality": 60 + number},
        }[kind]
        file = io.BytesIO()
        image.save(file, kind, exif=exif, **how)
        served = app.gateway.get(upload(app, file.getvalue()))
        assert served.status == 200 and pixels(served.content) == pixels(file.getvalue())
        assert SECRET not in served.content


@pytest.mark.parametrize("name", BAD)
def test_pictures_that_are_refused(app, name):
    put(app, (FILES / name).read_bytes()).problem(422, "AVATAR_INVALID", [("image", "AVATAR_INVALID")])
    assert app.get("/me").expect(200)["avatar_url"] is None


@pytest.mark.parametrize("content", [
    b"", b"hello", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", b"%PDF-1.7\n", b"\x89PNG\r\n\x1a\n"])
def test_malformed_pictures(app, content):
    put(app, content).problem(422, "AVATAR_INVALID", [("image", "AVATAR_INVALID")])


def test_the_largest_file_and_one_more_byte(app):
    noise = random.Random(1)
    image = Image.frombytes("L", (1024, 500), noise.randbytes(1024 * 500))
    file = io.BytesIO()
    image.save(file, "PNG", compress_level=0)
    content = file.getvalue()
    assert 500_000 < len(content) < HALF_A_MEBIBYTE
    assert app.gateway.get(upload(app, content)).status == 200
    # Data behind the image is cut off, so a file can have any size.
    assert put(app, content + b"x" * (HALF_A_MEBIBYTE - len(content))).status == 200
    put(app, content + b"x" * (HALF_A_MEBIBYTE - len(content) + 1)).problem(413, "BODY_TOO_LARGE")
    # No other route accepts a larger body because of it.
    app.save(display_name="x" * 100_000).problem(413, "BODY_TOO_LARGE")


def test_the_content_type_must_be_an_accepted_one(app):
    answer = put(app, (FILES / "rgb.png").read_bytes(), "image/gif")
    answer.problem(415, "CONTENT_TYPE_UNSUPPORTED")
    assert answer.headers["Accept"] == "image/png, image/jpeg, image/webp, application/octet-stream"
    # A picture's kind is decided by its own bytes.
    url = put(app, (FILES / "rgb.png").read_bytes(), "image/jpeg").expect(200)["avatar_url"]
    assert app.gateway.get(url[url.index("/avatars/"):]).headers["Content-Type"] == "image/png"


def test_how_it_is_served(app, gateway):
    path = upload(app, (FILES / "rgb.png").read_bytes())
    answer = gateway.get(path)
    identifier = path.rpartition("/")[2]
    for name, value in {
            "ETag": f'"{identifier}"', "Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "default-src 'none'; sandbox", "Content-Disposition": "inline",
            "Content-Length": str(len(answer.content))}.items():
        assert answer.headers.get_all(name) == [value]
    known = gateway.get(path, headers={"If-None-Match": f'"other", W/"{identifier}"'})
    assert (known.status, known.content, known.headers["ETag"]) == (304, b"", f'"{identifier}"')
    assert gateway.get(path, headers={"If-None-Match": '"other"'}).status == 200
    head = gateway.send("HEAD", path)
    assert (head.status, head.content, head.headers["Content-Length"]) == (200, b"", str(len(answer.content)))
    for other in (identifier[:-1], identifier.upper(), "0" * 32, identifier + "0", "x"):
        gateway.get(f"/avatars/{other}").problem(404, "AVATAR_UNKNOWN")
    for method in ("PUT", "DELETE", "PATCH", "POST"):
        assert gateway.send(method, path, token=app.access_token).status == 405


def test_a_replaced_or_removed_picture_is_gone(app, gateway):
    first = upload(app, (FILES / "rgb.png").read_bytes())
    second = upload(app, (FILES / "baseline.jpeg").read_bytes())
    gateway.get(first).problem(404, "AVATAR_UNKNOWN")
    # A client that sends the whole profile back keeps the picture.
    me = app.get("/me").expect(200)
    assert app.save(avatar_url=me["avatar_url"]).expect(200) == me
    assert gateway.get(second).status == 200
    assert app.save(avatar_url="https://example.com/me.png").expect(200)["avatar_url"] == "https://example.com/me.png"
    gateway.get(second, headers={"If-None-Match": f'"{second.rpartition("/")[2]}"'}).problem(404, "AVATAR_UNKNOWN")
    third = upload(app, (FILES / "rgb.png").read_bytes())
    gone = app.gateway.send("DELETE", "/me/avatar", token=app.access_token)
    assert gone.expect(200)["avatar_url"] is None
    assert app.gateway.send("DELETE", "/me/avatar", token=app.access_token).expect(200) == gone.json
    gateway.get(third).problem(404, "AVATAR_UNKNOWN")


def test_another_users_upload_is_refused(app, new_app):
    other = new_app()
    other.sign_in()
    theirs = put(other, (FILES / "rgb.png").read_bytes()).expect(200)["avatar_url"]
    app.save(avatar_url=theirs).problem(422, "AVATAR_URL_INVALID", [("avatar_url", "AVATAR_URL_INVALID")])


def test_uploads_a_day_are_limited(app):
    content = (FILES / "bits.png").read_bytes()
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: put(app, content), range(24)))
    assert sorted(answer.status for answer in answers) == [200] * 20 + [429] * 4
    put(app, content).problem(429, "TOO_MANY_ATTEMPTS", [("image", "TOO_MANY_ATTEMPTS")])
    assert app.gateway.get("/avatars/" + app.get("/me").expect(200)["avatar_url"].rpartition("/")[2]).status == 200


def test_a_deleted_account_leaves_no_picture(app, gateway):
    path = upload(app, (FILES / "rgb.png").read_bytes())
    app.delete()
    process_table.wait_until(lambda: gateway.get(path).status == 404, 15, "the picture to be deleted")


def test_members_are_shown_with_their_own_names(member, new_app):
    """The inviter's name is shown until the person has chosen one; then that, with username and picture."""
    guest = new_app()
    group = member.create_group()
    member.invite(guest.person, group)
    assert [each["display_name"] for each in member.members(group)] == [member.person.name, guest.person.name]
    guest.sign_in()
    guest.save(phone_number=guest.person.phone).expect(200)
    guest.wait_for_group(group)
    assert member.members(group)[1]["display_name"] == guest.person.name, "as long as there is no other"
    own, username = f"Own {letters(8).capitalize()}", letters(12)
    member.stack.confidential |= {own}
    guest.save(display_name=own, username=username).expect(200)
    url = put(guest, (FILES / "rgb.png").read_bytes()).expect(200)["avatar_url"]
    seen = member.members(group)[1]
    assert (seen["display_name"], seen["username"], seen["avatar_url"]) == (own, username, url)
    assert (seen["state"], seen["user_id"]) == ("member", guest.user_id)
    assert member.members(group) == guest.members(group)


def test_no_chunk_of_a_picture_can_hide_a_text(app):
    """No text fits into the chunks that are kept: tried with Pillow's own writer of texts, at each place that it knows."""
    for text in ("tEXt", "iTXt", "zTXt"):
        info = PngImagePlugin.PngInfo()
        if text == "iTXt":
            info.add_itxt("Comment", "SECRET")
        else:
            info.add_text("Comment", "SECRET", zip=text == "zTXt")
        file = io.BytesIO()
        Image.new("RGB", (4, 4)).save(file, "PNG", pnginfo=info)
        served = app.gateway.get(upload(app, file.getvalue())).content
        assert Image.open(io.BytesIO(served)).info == {} and text.encode() not in served
