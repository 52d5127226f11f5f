#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <openssl/cms.h>

// What Swift can't say: a stack of certificates is made by macros.

/// Seals content for the owner of a certificate's key: a CMS message with AES-256-GCM (RFC 5652, RFC 5084). Nil if OpenSSL fails, with
/// the reason in its queue. The caller frees it by CMS_ContentInfo_free. `count` is at most INT_MAX. Any thread.
static inline CMS_ContentInfo *vestibule_cms_encrypt(const unsigned char *content, size_t count, X509 *recipient) {
    STACK_OF(X509) *recipients = sk_X509_new_null();
    BIO *input = BIO_new_mem_buf(content, (int)count);
    CMS_ContentInfo *message = NULL;
    // The stack doesn't own the certificate.
    if (recipients != NULL && input != NULL && sk_X509_push(recipients, recipient) > 0) {
        message = CMS_encrypt(recipients, input, EVP_aes_256_gcm(), CMS_BINARY);
    }
    BIO_free(input);
    sk_X509_free(recipients);
    return message;
}

/// Frees what OpenSSL allocated, as `OPENSSL_free` does. Any thread.
static inline void vestibule_openssl_free(void *bytes) { OPENSSL_free(bytes); }
