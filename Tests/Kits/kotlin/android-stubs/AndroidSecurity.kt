package android.security

/** What tests set. */
class NetworkSecurityPolicy private constructor() {
    fun isCleartextTrafficPermitted(hostname: String): Boolean = hostname in permitted

    companion object {
        val permitted: MutableSet<String> = HashSet()

        @JvmStatic
        fun getInstance(): NetworkSecurityPolicy = NetworkSecurityPolicy()
    }
}

class KeyStoreException(message: String) : Exception(message)
