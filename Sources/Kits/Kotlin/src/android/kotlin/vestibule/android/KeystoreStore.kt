package vestibule.android

import android.content.Context
import android.security.keystore.KeyGenParameterSpec
import android.security.keystore.KeyProperties
import java.io.File
import java.security.GeneralSecurityException
import java.security.InvalidKeyException
import java.security.KeyStore
import java.security.UnrecoverableKeyException
import java.util.Base64
import javax.crypto.AEADBadTagException
import javax.crypto.Cipher
import javax.crypto.IllegalBlockSizeException
import javax.crypto.KeyGenerator
import javax.crypto.SecretKey
import javax.crypto.spec.GCMParameterSpec
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import vestibule.FileStore
import vestibule.SessionStore

/**
 * Keeps sessions in files of the app that are encrypted by a key of the Android Keystore, which never leaves the device. They are
 * no part of backups. All processes of the app may share it. Android 8.0 and later.
 *
 * A text that can't be decrypted, such as one of another device or of a key that is broken for good, is read as it is: the client then
 * keeps it beside, and the user signs in. Other errors of the Keystore pass, and the client tries again.
 */
public class KeystoreStore(context: Context) : SessionStore {
    private val files = FileStore(File(context.noBackupFilesDir, "vestibule"))

    override suspend fun read(key: String): String? = files.read(key)?.let { decrypted(key, it) }

    override suspend fun write(key: String, text: String): Unit = files.write(key, encrypted(key, text))

    override suspend fun remove(key: String): Unit = files.remove(key)

    override suspend fun <T> withLock(key: String, action: suspend () -> T): T = files.withLock(key, action)

    private suspend fun encrypted(key: String, text: String): String = withContext(Dispatchers.IO) {
        val cipher = try {
            encrypting(secret() ?: newSecret())
        } catch (error: GeneralSecurityException) {
            if (!isBroken(error)) throw error
            // Nothing that it has encrypted can be read any more.
            keys().deleteEntry(ALIAS)
            encrypting(newSecret())
        }
        // A text is good under its own key alone.
        cipher.updateAAD(key.toByteArray())
        Base64.getEncoder().encodeToString(cipher.iv + cipher.doFinal(text.toByteArray()))
    }

    // The Keystore chooses the initialization vector.
    private fun encrypting(secret: SecretKey): Cipher =
        Cipher.getInstance(TRANSFORMATION).apply { init(Cipher.ENCRYPT_MODE, secret) }

    private suspend fun decrypted(key: String, stored: String): String = withContext(Dispatchers.IO) {
        try {
            val bytes = Base64.getDecoder().decode(stored)
            val secret = secret()
            if (bytes.size <= VECTOR_BYTES || secret == null) return@withContext stored
            val cipher = Cipher.getInstance(TRANSFORMATION)
            cipher.init(Cipher.DECRYPT_MODE, secret, GCMParameterSpec(TAG_BITS, bytes, 0, VECTOR_BYTES))
            cipher.updateAAD(key.toByteArray())
            String(cipher.doFinal(bytes, VECTOR_BYTES, bytes.size - VECTOR_BYTES), Charsets.UTF_8)
        } catch (_: IllegalArgumentException) {
            stored
        } catch (_: AEADBadTagException) {
            stored
        } catch (error: GeneralSecurityException) {
            if (isBroken(error)) stored else throw error
        }
    }

    /** Whether the key will never work again, as it is seen after restores and updates of the system. */
    private fun isBroken(error: GeneralSecurityException): Boolean =
        error is UnrecoverableKeyException || error is InvalidKeyException ||
            (error is IllegalBlockSizeException && error.cause?.javaClass?.name == "android.security.KeyStoreException")

    private fun keys(): KeyStore = KeyStore.getInstance(PROVIDER).apply { load(null) }

    /** The key of the app, if there is one. */
    private fun secret(): SecretKey? = keys().getKey(ALIAS, null) as SecretKey?

    /** Makes the key. Texts are written under the client's lock, so that no other process does the same. */
    private fun newSecret(): SecretKey = KeyGenerator.getInstance(KeyProperties.KEY_ALGORITHM_AES, PROVIDER).run {
        init(
            KeyGenParameterSpec.Builder(ALIAS, KeyProperties.PURPOSE_ENCRYPT or KeyProperties.PURPOSE_DECRYPT)
                .setBlockModes(KeyProperties.BLOCK_MODE_GCM)
                .setEncryptionPaddings(KeyProperties.ENCRYPTION_PADDING_NONE)
                .build(),
        )
        generateKey()
    }

    private companion object {
        const val ALIAS = "vestibule-session"
        const val PROVIDER = "AndroidKeyStore"
        const val TRANSFORMATION = "AES/GCM/NoPadding"
        const val VECTOR_BYTES = 12
        const val TAG_BITS = 128
    }
}
