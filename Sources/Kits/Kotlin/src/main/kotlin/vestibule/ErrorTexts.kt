package vestibule

/** Texts of errors for people, in the languages of the server's pages. */
public object ErrorTexts {
    private const val OTHER = "OTHER"
    private const val FIRST_LANGUAGE = "en"

    /**
     * A text for a code.
     *
     * @param languages BCP 47 tags, the preferred first: `de-AT`. English if none of them is there.
     */
    public fun text(code: String, vararg languages: String): String {
        val lines = languages.firstNotNullOfOrNull(::lines) ?: ErrorTextLines.of(FIRST_LANGUAGE).orEmpty()
        return sentence(lines, code) ?: sentence(lines, OTHER).orEmpty()
    }

    /** `de-AT` has what `de` has. */
    private fun lines(language: String): String? = ErrorTextLines.of(language.substringBefore('-').lowercase())

    private fun sentence(lines: String, code: String): String? =
        lines.lineSequence().firstOrNull { it.startsWith("$code ") }?.substring(code.length + 1)
}
