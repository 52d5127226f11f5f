/// A rig whose connections use TLS, with certificates that certificates.sh made.
#ifndef CRPC_TEST_TLS_RIG_H
#define CRPC_TEST_TLS_RIG_H

#include "rig.h"

/// The path of one of the files.
const char *tls_path(const char *file, char text[256]);
/// Rules of each side: the names of a certificate with its key and of an authority, such as "server"; NULL for none.
crpc_tls *tls_server_rules(const char *name, const char *authority);
crpc_tls *tls_client_rules(const char *name, const char *authority);
/// A rig that has taken the rules over.
rig *tls_start(crpc_tls *server, crpc_tls *client, const char *name);
void tls_end(rig *rig);
/// Makes a call, which must go well.
void tls_expect_call(rig *rig, peer *peer);

#endif
