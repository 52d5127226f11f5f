package vestibule

/** Reads one text of JSON from its beginning to its end. */
internal class JSONReader(private val text: String) {
    private var position = 0

    /** Returns the value of the whole text. */
    @Throws(JSONException::class)
    fun read(): Any? {
        val value = value(depth = 0)
        skipSpaces()
        if (position < text.length) fail("text after the value")
        return value
    }

    private fun value(depth: Int): Any? {
        if (depth > JSON.DEPTH_MAX) fail("nested deeper than ${JSON.DEPTH_MAX}")
        skipSpaces()
        return when (peek()) {
            '{' -> members(depth)
            '[' -> elements(depth)
            '"' -> string()
            't' -> word("true", true)
            'f' -> word("false", false)
            'n' -> word("null", null)
            else -> number()
        }
    }

    private fun members(depth: Int): JSONObject {
        position++
        val members = LinkedHashMap<String, Any?>()
        skipSpaces()
        if (take('}')) return members
        while (true) {
            skipSpaces()
            if (peek() != '"') fail("no name of a member")
            val name = string()
            skipSpaces()
            if (!take(':')) fail("no colon")
            if (members.containsKey(name)) fail("a member twice")
            members[name] = value(depth + 1)
            skipSpaces()
            if (take('}')) return members
            if (!take(',')) fail("no comma")
        }
    }

    private fun elements(depth: Int): List<Any?> {
        position++
        val elements = ArrayList<Any?>()
        skipSpaces()
        if (take(']')) return elements
        while (true) {
            elements += value(depth + 1)
            skipSpaces()
            if (take(']')) return elements
            if (!take(',')) fail("no comma")
        }
    }

    private fun string(): String {
        position++
        val start = position
        while (position < text.length && text[position] != '"' && text[position] != '\\' && text[position] >= ' ') position++
        // Most texts have no escapes.
        if (position < text.length && text[position] == '"') return text.substring(start, position++)
        val string = StringBuilder(text.substring(start, position))
        while (true) {
            val character = peek() ?: fail("a text without an end")
            position++
            when {
                character == '"' -> return checked(string)
                character == '\\' -> string.append(escaped())
                character < ' ' -> fail("a control character")
                else -> string.append(character)
            }
        }
    }

    private fun escaped(): Char {
        val character = peek() ?: fail("a text without an end")
        position++
        return when (character) {
            '"', '\\', '/' -> character
            'b' -> '\b'
            'f' -> '\u000c'
            'n' -> '\n'
            'r' -> '\r'
            't' -> '\t'
            'u' -> {
                if (position + 4 > text.length) fail("a text without an end")
                var code = 0
                repeat(4) {
                    val digit = text[position++].let { if (it.code < 128) Character.digit(it, 16) else -1 }
                    if (digit < 0) fail("no hexadecimal digit")
                    code = code * 16 + digit
                }
                code.toChar()
            }
            else -> fail("an unknown escape")
        }
    }

    /** Half of a surrogate pair is no character. */
    private fun checked(string: StringBuilder): String {
        var index = 0
        while (index < string.length) {
            val character = string[index]
            if (character.isHighSurrogate() && index + 1 < string.length && string[index + 1].isLowSurrogate()) index++
            else if (character.isSurrogate()) fail("half a character")
            index++
        }
        return string.toString()
    }

    private fun number(): Any {
        val start = position
        take('-')
        if (!take('0')) digits()
        var isWhole = true
        if (take('.')) {
            isWhole = false
            digits()
        }
        if (take('e') || take('E')) {
            isWhole = false
            if (!take('+')) take('-')
            digits()
        }
        val digits = text.substring(start, position)
        if (isWhole) digits.toLongOrNull()?.let { return it }
        return digits.toDouble().takeIf { it.isFinite() } ?: fail("a number out of range")
    }

    private fun digits() {
        val start = position
        while (position < text.length && text[position] in '0'..'9') position++
        if (position == start) fail("no value")
    }

    private fun <T> word(word: String, value: T): T {
        if (!text.startsWith(word, position)) fail("no value")
        position += word.length
        return value
    }

    private fun skipSpaces() {
        while (position < text.length && text[position].let { it == ' ' || it == '\n' || it == '\r' || it == '\t' }) position++
    }

    private fun peek(): Char? = if (position < text.length) text[position] else null

    private fun take(character: Char): Boolean = (peek() == character).also { if (it) position++ }

    /** The message has nothing of the text: it may have tokens. */
    private fun fail(what: String): Nothing = throw JSONException("$what at $position")
}
