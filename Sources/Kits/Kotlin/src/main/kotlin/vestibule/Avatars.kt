package vestibule

/**
 * Makes an image the user's picture: a PNG, JPEG or WebP file without animation. Scale it down first.
 *
 * @return the changed profile.
 * @throws VestibuleException `AVATAR_INVALID` or `AVATAR_TOO_LARGE`.
 */
public suspend fun Vestibule.setAvatar(image: ByteArray, options: CallOptions = CallOptions.DEFAULT): Profile =
    profile(route("PUT", AVATAR_PATH, image, "application/octet-stream", options))

/** Removes the user's picture, and returns the changed profile. */
public suspend fun Vestibule.removeAvatar(options: CallOptions = CallOptions.DEFAULT): Profile =
    profile(route("DELETE", AVATAR_PATH, null, null, options))

/** The URL of a picture to load, of [Profile.avatarUrl] or [Member.avatarUrl]. It needs no token. */
public fun Vestibule.avatarUrl(url: String): String = if (url.startsWith("/")) calls.url + url else url

/** Routes have the names of the protos, Connect those of JSON: `avatar_url` is `avatarUrl`. */
private fun profile(json: JSONObject): Profile = reading {
    Profile.fromJson(json.mapKeys { (name, _) -> camelCased(name) })
}

private const val AVATAR_PATH = "/me/avatar"
