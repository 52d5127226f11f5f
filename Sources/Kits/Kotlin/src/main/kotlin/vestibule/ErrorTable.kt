package vestibule

/** What each code means; loaded at the first error. */
internal val errorTable: Map<String, ErrorCodeEntry> by lazy {
    ERROR_LINES.trim().lines().associate { line ->
        val words = line.split(' ')
        val ends = words.getOrNull(3)
        words[0] to ErrorCodeEntry(words[1].toInt(), ErrorAction(words[2]), ends == "ends", ends != null)
    }
}
