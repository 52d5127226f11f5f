#include "tls_rig.h"

#include <stdio.h>

const char *tls_path(const char *file, char text[256]) {
    const char *folder = getenv("CRPC_TEST_CERTIFICATES");
    REQUIRE(folder != NULL); // run.sh makes it
    (void)snprintf(text, 256, "%s/%s", folder, file);
    return text;
}

/// The files of a name, such as "server": NULL for none. `authority` likewise.
static crpc_tls_files files(const char *name, const char *authority) {
    static char texts[6][256];
    static int next;
    char *certificate = texts[next++ % 6], *key = texts[next++ % 6], *authorities = texts[next++ % 6], file[64];
    crpc_tls_files files = {NULL, NULL, NULL};
    if (name != NULL) {
        (void)snprintf(file, sizeof file, "%s.pem", name);
        files.certificate_chain = tls_path(file, certificate);
        (void)snprintf(file, sizeof file, "%s.key", name);
        files.private_key = tls_path(file, key);
    }
    if (authority != NULL) {
        (void)snprintf(file, sizeof file, "%s.pem", authority);
        files.authorities = tls_path(file, authorities);
    }
    return files;
}

crpc_tls *tls_server_rules(const char *name, const char *authority) {
    crpc_tls_files chosen = files(name, authority);
    char reason[CRPC_TLS_REASON_LENGTH] = "";
    crpc_tls *tls = NULL;
    if (!EXPECT_EQUAL(crpc_tls_server_new(&chosen, reason, &tls), CRPC_OK)) test_note("%s", reason);
    REQUIRE(tls != NULL);
    return tls;
}

crpc_tls *tls_client_rules(const char *name, const char *authority) {
    crpc_tls_files chosen = files(name, authority);
    char reason[CRPC_TLS_REASON_LENGTH] = "";
    crpc_tls *tls = NULL;
    if (!EXPECT_EQUAL(crpc_tls_client_new(&chosen, reason, &tls), CRPC_OK)) test_note("%s", reason);
    REQUIRE(tls != NULL);
    return tls;
}

/// A rig that has taken the rules over.
rig *tls_start(crpc_tls *server, crpc_tls *client, const char *name) {
    rig_setup setup = rig_defaults();
    setup.server_tls = server;
    setup.client_tls = client;
    setup.tls_name = name;
    return rig_start(&setup);
}

void tls_end(rig *rig) {
    crpc_tls *server = rig->setup.server_tls, *client = rig->setup.client_tls;
    rig_end(rig);
    crpc_tls_free(server);
    crpc_tls_free(client);
}

void tls_expect_call(rig *rig, peer *peer) {
    call *call = call_unary(peer, METHOD_UNARY, "secret");
    UNTIL(rig, call->closes == 1);
    EXPECT_EQUAL(call->status, 0);
    EXPECT_TEXT(call->received, call->received_length, "secret");
}
