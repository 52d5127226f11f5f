package vestibule

import java.time.DateTimeException
import java.time.Instant
import java.time.OffsetDateTime

/** Reads a message of a response. What has another type than its proto says is no response of the server. */
internal inline fun <T> reading(read: () -> T): T = try {
    read()
} catch (error: JSONException) {
    throw VestibuleException.badResponse(200, error.message.orEmpty())
}

/** `display_name` is `displayName` in JSON of protobuf. */
internal fun camelCased(name: String): String = UNDERSCORE.replace(name) { it.groupValues[1].uppercase() }

private val UNDERSCORE = Regex("_([a-z0-9])")

// Fields as protobuf's JSON has them. Null for what is absent, and for a text that is empty, which means the same.

internal fun JSONObject.string(name: String): String? = field<String>(name)?.ifEmpty { null }

internal fun JSONObject.boolean(name: String): Boolean? = field(name)

internal fun JSONObject.long(name: String): Long? = if (this[name] == null) null else number(name) ?: wrongType(name)

internal fun JSONObject.int(name: String): Int? =
    long(name)?.let { if (it in Int.MIN_VALUE..Int.MAX_VALUE) it.toInt() else wrongType(name) }

internal fun JSONObject.instant(name: String): Instant? = string(name)?.let {
    try {
        OffsetDateTime.parse(it).toInstant()
    } catch (_: DateTimeException) {
        wrongType(name)
    }
}

internal fun <T> JSONObject.message(name: String, read: (JSONObject) -> T): T? =
    if (this[name] == null) null else read(child(name) ?: wrongType(name))

internal fun <T> JSONObject.messages(name: String, read: (JSONObject) -> T): List<T> {
    val elements = field<List<*>>(name) ?: return emptyList()
    @Suppress("UNCHECKED_CAST") // Keys of a map that the reader makes are texts.
    return elements.map { read(it as? JSONObject ?: wrongType(name)) }
}

internal fun JSONObject.texts(name: String): List<String> =
    field<List<*>>(name)?.map { it as? String ?: wrongType(name) } ?: emptyList()

private inline fun <reified T> JSONObject.field(name: String): T? = this[name]?.let { it as? T ?: wrongType(name) }

private fun wrongType(name: String): Nothing = throw JSONException("$name has a wrong type")

/** The value with a name on the wire: UNRECOGNIZED for that of a later version, UNSPECIFIED for none. */
internal fun <E : Enum<E>> enumOf(entries: List<E>, name: String?, wireName: (E) -> String): E =
    if (name == null) entries.first() else entries.firstOrNull { wireName(it) == name } ?: entries.last()

/** The name on the wire; null for UNSPECIFIED, which means absent. */
internal fun enumToJson(value: Enum<*>, wireName: String): String? {
    require(wireName.isNotEmpty()) { "a value that this version of the kit doesn't know can't be sent" }
    return wireName.takeIf { value.ordinal > 0 }
}
