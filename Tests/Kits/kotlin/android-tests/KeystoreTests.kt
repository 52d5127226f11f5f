package vestibule.android.tests

import android.content.Context
import android.security.NetworkSecurityPolicy
import android.security.keystore.KeyGenParameterSpec
import java.io.File
import java.io.InputStream
import java.io.OutputStream
import java.net.ServerSocket
import java.nio.file.Files
import java.security.GeneralSecurityException
import java.security.InvalidKeyException
import java.security.Key
import java.security.KeyStoreSpi
import java.security.Provider
import java.security.SecureRandom
import java.security.Security
import java.security.UnrecoverableKeyException
import java.security.cert.Certificate
import java.security.spec.AlgorithmParameterSpec
import java.util.Collections
import java.util.Date
import java.util.Enumeration
import javax.crypto.KeyGeneratorSpi
import javax.crypto.SecretKey
import javax.crypto.spec.SecretKeySpec
import kotlinx.coroutines.runBlocking
import vestibule.KitErrorCode
import vestibule.SessionState
import vestibule.Vestibule
import vestibule.VestibuleException
import vestibule.android.KeystoreStore
import vestibule.auth

/** A Keystore that can break, in the place of Android's. */
internal object BreakableKeystore {
    val keys = HashMap<String, SecretKey>()

    /** What `getKey` throws. */
    var failure: GeneralSecurityException? = null

    fun install() {
        Security.addProvider(object : Provider("AndroidKeyStore", 1.0, "of the tests") {
            init {
                put("KeyStore.AndroidKeyStore", Keys::class.java.name)
                put("KeyGenerator.AES", Generator::class.java.name)
            }
        })
    }

    class Keys : KeyStoreSpi() {
        override fun engineGetKey(alias: String, password: CharArray?): Key? = failure?.let { throw it } ?: keys[alias]

        override fun engineDeleteEntry(alias: String) {
            keys -= alias
            failure = null
        }

        override fun engineLoad(stream: InputStream?, password: CharArray?) = Unit

        override fun engineGetCertificateChain(alias: String): Array<Certificate> = emptyArray()

        override fun engineGetCertificate(alias: String): Certificate? = null

        override fun engineGetCreationDate(alias: String): Date? = null

        override fun engineSetKeyEntry(alias: String, key: Key, password: CharArray?, chain: Array<Certificate>?) = error("not used")

        override fun engineSetKeyEntry(alias: String, key: ByteArray, chain: Array<Certificate>?) = error("not used")

        override fun engineSetCertificateEntry(alias: String, certificate: Certificate?) = error("not used")

        override fun engineAliases(): Enumeration<String> = Collections.enumeration(keys.keys)

        override fun engineContainsAlias(alias: String): Boolean = alias in keys

        override fun engineSize(): Int = keys.size

        override fun engineIsKeyEntry(alias: String): Boolean = alias in keys

        override fun engineIsCertificateEntry(alias: String): Boolean = false

        override fun engineGetCertificateAlias(certificate: Certificate?): String? = null

        override fun engineStore(stream: OutputStream?, password: CharArray?) = Unit
    }

    class Generator : KeyGeneratorSpi() {
        private var alias = ""

        override fun engineInit(random: SecureRandom?) = error("not used")

        override fun engineInit(parameters: AlgorithmParameterSpec, random: SecureRandom?) {
            alias = (parameters as KeyGenParameterSpec).keystoreAlias
        }

        override fun engineInit(size: Int, random: SecureRandom?) = error("not used")

        override fun engineGenerateKey(): SecretKey =
            SecretKeySpec(ByteArray(32).also(SecureRandom()::nextBytes), "AES").also { keys[alias] = it }
    }
}

private val folder: File = Files.createTempDirectory("vestibule-keystore").toFile()

private fun store() = KeystoreStore(object : Context() {
    override val noBackupFilesDir: File get() = folder
})

private suspend fun aTextIsEncryptedUnderItsKey() {
    check(store().read("a.json") == null && BreakableKeystore.keys.isEmpty()) { "a read has made a key" }
    store().write("a.json", "secret")
    check(store().read("a.json") == "secret")
    val file = File(folder, "vestibule/a.json")
    check("secret" !in file.readText()) { "not encrypted" }
    file.copyTo(File(folder, "vestibule/b.json"))
    check(store().read("b.json") == file.readText()) { "good under another key" }
}

/** The failures that are seen in the field after restores and updates. */
private suspend fun aKeyThatIsBrokenForGoodIsReplaced() {
    val broken = listOf(UnrecoverableKeyException("m"), InvalidKeyException("m"))
    for (failure in broken) {
        store().write("a.json", "old")
        val stored = File(folder, "vestibule/a.json").readText()
        BreakableKeystore.failure = failure
        check(store().read("a.json") == stored) { "$failure is not unreadable" }
        store().write("a.json", "new")
        check(store().read("a.json") == "new") { "$failure is for ever" }
    }
    // Another device's.
    store().write("a.json", "old")
    BreakableKeystore.keys.clear()
    check(store().read("a.json") == File(folder, "vestibule/a.json").readText() && BreakableKeystore.keys.isEmpty())
}

private suspend fun aFailureThatPassesKeepsTheKey() {
    store().write("a.json", "text")
    BreakableKeystore.failure = GeneralSecurityException("the Keystore is busy")
    check(runCatching { store().read("a.json") }.exceptionOrNull() is GeneralSecurityException)
    check(runCatching { store().write("a.json", "x") }.exceptionOrNull() is GeneralSecurityException)
    BreakableKeystore.failure = null
    check(store().read("a.json") == "text")
}

private suspend fun aUserCanSignInAgainAfterTheKeyHasBroken() {
    val client = Vestibule("https://id.example.com", store())
    store().write("${client.key}.json", """{"version":1,"generation":1,"session":null}""")
    BreakableKeystore.failure = UnrecoverableKeyException("m")
    check(client.state() == SessionState.SignedOut(KitErrorCode.STORE_UNREADABLE)) { "${client.state()}" }
    check(BreakableKeystore.failure == null && client.records.read().endedCode == KitErrorCode.STORE_UNREADABLE)
}

private suspend fun thePolicyForCleartextIsAsked() {
    ServerSocket(0).use { server ->
        val client = Vestibule("http://127.0.0.1:${server.localPort}", store())
        val error = runCatching { client.auth.createChallenge("google") }.exceptionOrNull() as VestibuleException
        check(error.code == KitErrorCode.NETWORK && "network security" in error.cause?.message.orEmpty()) { "$error ${error.cause}" }
        server.soTimeout = 100
        check(runCatching { server.accept() }.isFailure) { "connected" }
        NetworkSecurityPolicy.permitted += "127.0.0.1"
        runCatching { client.auth.createChallenge("google", options = vestibule.CallOptions(SHORT)) }
        check(runCatching { server.accept() }.isSuccess) { "not connected" }
    }
}

private val SHORT = kotlin.time.Duration.parse("300ms")

internal fun main() {
    BreakableKeystore.install()
    runBlocking {
        aTextIsEncryptedUnderItsKey()
        aKeyThatIsBrokenForGoodIsReplaced()
        aFailureThatPassesKeepsTheKey()
        aUserCanSignInAgainAfterTheKeyHasBroken()
        thePolicyForCleartextIsAsked()
    }
    folder.deleteRecursively()
    println("passed: android")
}
