@file:Suppress("unused")

package androidx.credentials.exceptions

abstract class GetCredentialException : Exception()

class GetCredentialCancellationException : GetCredentialException()
