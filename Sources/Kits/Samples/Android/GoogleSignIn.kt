package com.example.shop

// cut: google
import android.app.Activity
import androidx.credentials.CredentialManager
import androidx.credentials.CustomCredential
import androidx.credentials.GetCredentialRequest
import androidx.credentials.exceptions.GetCredentialCancellationException
import com.google.android.libraries.identity.googleid.GetSignInWithGoogleOption
import com.google.android.libraries.identity.googleid.GoogleIdTokenCredential
import vestibule.Credentials
import vestibule.SignInNonce

/** The id of the web client in Google's console, which is an audience of the server's configuration. */
private const val WEB_CLIENT_ID = "example.apps.googleusercontent.com"

/** Has the user choose a Google account; null if they turn back. */
suspend fun askGoogle(activity: Activity): Credentials? {
    // The nonce binds Google's token to this sign-in: a stolen token is worth nothing without it.
    val nonce = SignInNonce.create()
    val option = GetSignInWithGoogleOption.Builder(WEB_CLIENT_ID).setNonce(nonce.raw).build()
    val request = GetCredentialRequest.Builder().addCredentialOption(option).build()
    val credential = try {
        CredentialManager.create(activity).getCredential(activity, request).credential
    } catch (_: GetCredentialCancellationException) {
        return null
    }
    check(credential is CustomCredential && credential.type == GoogleIdTokenCredential.TYPE_GOOGLE_ID_TOKEN_CREDENTIAL)
    return Credentials.google(GoogleIdTokenCredential.createFrom(credential.data).idToken, nonce)
}
// cut end
