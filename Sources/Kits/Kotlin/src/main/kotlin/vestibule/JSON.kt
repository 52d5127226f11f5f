package vestibule

import java.nio.ByteBuffer
import java.nio.charset.CharacterCodingException
import java.nio.charset.CodingErrorAction

/** A text that is not JSON, or larger or deeper than a response can be. */
internal class JSONException(message: String) : Exception(message)

/** An object of JSON: texts, `Boolean`, `Long`, `Double`, lists, objects and null. */
internal typealias JSONObject = Map<String, Any?>

/** Reads and writes JSON (RFC 8259), strictly and within bounds: a response comes from the network. */
internal object JSON {
    /** The deepest nesting that is read. Responses have 5 levels at most. */
    const val DEPTH_MAX: Int = 32

    /** The largest text that is read, in bytes. */
    const val BYTES_MAX: Int = 8 * 1024 * 1024

    /** Reads an object. */
    @Throws(JSONException::class)
    fun readObject(bytes: ByteArray): JSONObject {
        if (bytes.size > BYTES_MAX) throw JSONException("larger than $BYTES_MAX bytes")
        val text = try {
            Charsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(bytes)).toString()
        } catch (_: CharacterCodingException) {
            throw JSONException("not UTF-8")
        }
        val value = JSONReader(text).read()
        @Suppress("UNCHECKED_CAST") // Keys of a map that the reader makes are texts.
        return value as? JSONObject ?: throw JSONException("not an object")
    }

    /** Reads an object. */
    @Throws(JSONException::class)
    fun readObject(text: String): JSONObject = readObject(text.toByteArray())

    /** Writes a value without spaces. */
    fun write(value: Any?): String = StringBuilder().also { append(value, it) }.toString()

    private fun append(value: Any?, text: StringBuilder) {
        when (value) {
            null -> text.append("null")
            is Boolean, is Int, is Long -> text.append(value)
            is String -> append(value, text)
            is Map<*, *> -> {
                text.append('{')
                var isFirst = true
                for ((name, member) in value) {
                    if (!isFirst) text.append(',')
                    isFirst = false
                    append(name as String, text)
                    text.append(':')
                    append(member, text)
                }
                text.append('}')
            }
            is List<*> -> {
                text.append('[')
                value.forEachIndexed { index, element ->
                    if (index > 0) text.append(',')
                    append(element, text)
                }
                text.append(']')
            }
            is Double -> if (value.isFinite()) text.append(value) else throw IllegalArgumentException("JSON has no $value")
            else -> throw IllegalArgumentException("JSON has no ${value.javaClass.name}")
        }
    }

    private fun append(string: String, text: StringBuilder) {
        text.append('"')
        for (character in string) {
            when {
                character == '"' || character == '\\' -> text.append('\\').append(character)
                character < ' ' || character == '\u2028' || character == '\u2029' ->
                    text.append("\\u").append(character.code.toString(16).padStart(4, '0'))
                else -> text.append(character)
            }
        }
        text.append('"')
    }
}

/** The text of a member, or null. */
internal fun JSONObject.text(name: String): String? = this[name] as? String

/** The object of a member, or null. */
@Suppress("UNCHECKED_CAST") // Keys of a map that the reader makes are texts.
internal fun JSONObject.child(name: String): JSONObject? = this[name] as? JSONObject

/** The objects of a list, without elements of other kinds; empty if there is no list. */
@Suppress("UNCHECKED_CAST")
internal fun JSONObject.children(name: String): List<JSONObject> =
    (this[name] as? List<*>)?.mapNotNull { it as? JSONObject } ?: emptyList()

/** A whole number, which protobuf's JSON writes as a number or as a text; null for anything else. */
internal fun JSONObject.number(name: String): Long? = when (val value = this[name]) {
    is Long -> value
    is String -> value.toLongOrNull()
    is Double -> value.toLong().takeIf { it.toDouble() == value }
    else -> null
}
