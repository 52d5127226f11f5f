package vestibule

import java.net.URI
import java.net.URISyntaxException

/**
 * A server's URL as it is compared: scheme and host in lower case, without the usual port and a slash at its end.
 *
 * @throws IllegalArgumentException if it isn't one of HTTPS. By HTTP, tokens would be readable on the way: the machine itself
 *   is excepted, and the machine that an Android emulator runs on.
 */
internal fun normalizedServerURL(url: String): String {
    val parts = try {
        URI(url.trim())
    } catch (error: URISyntaxException) {
        throw IllegalArgumentException("not a URL: $url", error)
    }
    val scheme = parts.scheme?.lowercase()
    val host = requireNotNull(parts.host) { "a URL without a host: $url" }.lowercase()
    require(scheme == "https" || scheme == "http" && isThisMachine(host)) { "not a URL by https: $url" }
    require(parts.rawQuery == null && parts.rawFragment == null && parts.rawUserInfo == null) { "not the URL of a server: $url" }
    val port = parts.port.takeIf { it > 0 && it != (if (scheme == "https") 443 else 80) }
    return "$scheme://$host${port?.let { ":$it" } ?: ""}${parts.rawPath.orEmpty().trimEnd('/')}"
}

private fun isThisMachine(host: String): Boolean =
    host == "localhost" || host == "[::1]" || host == "10.0.2.2" || LOOPBACK.matches(host)

private val LOOPBACK = Regex("127(\\.[0-9]{1,3}){3}")
