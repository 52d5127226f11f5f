#include "carrier.h"

enum { BUFFER = 65536 + CRPC_FRAME_ROOM };

static void keep(carrier *carrier, ssize_t length, const uint8_t *bytes) {
    if (length <= 0) return;
    uint8_t *sent = realloc(carrier->sent, carrier->sent_length + (size_t)length);
    if (sent == NULL) crpc_die("no memory for a test");
    memcpy(sent + carrier->sent_length, bytes, (size_t)length);
    carrier->sent = sent;
    carrier->sent_length += (size_t)length;
}

static carrier *carrier_of(crpc_h2 *h2) { return CRPC_CONTAINER(h2->turn, carrier, turn); }

static void on_flush(crpc_chore *chore) {
    static uint8_t buffer[BUFFER];
    crpc_h2 *h2 = CRPC_CONTAINER(chore, crpc_h2, flush);
    crpc_connection *connection = crpc_connection_of(h2);
    if (!crpc_connection_prepare(connection)) return;
    for (;;) {
        ssize_t length = crpc_connection_produce(connection, buffer, BUFFER);
        if (length < 0) crpc_h2_break(h2, (int)length);
        if (length <= 0) break;
        keep(carrier_of(h2), length, buffer);
    }
    crpc_connection_conclude(connection);
}

static void on_close(crpc_chore *chore) {
    static uint8_t buffer[BUFFER];
    crpc_h2 *h2 = CRPC_CONTAINER(chore, crpc_h2, close);
    carrier *carrier = carrier_of(h2);
    keep(carrier, crpc_h2_goodbye(h2, buffer, BUFFER), buffer);
    crpc_connection_tell_end(carrier->connection);
    crpc_connection_end(carrier->connection);
    free(carrier->connection); // exactly as long as it is: what goes past its end is seen
    carrier->connection = NULL;
}

void carrier_begin(carrier *carrier) {
    *carrier = (struct carrier){.turn = {.now_ns = 1000000000}};
    crpc_turn_init(&carrier->turn);
    carrier->turn.scratch = malloc(CRPC_SCRATCH);
    if (carrier->turn.scratch == NULL) crpc_die("no memory for a test");
}

static crpc_connection *new_connection(void) {
    crpc_connection *connection = calloc(1, sizeof *connection);
    if (connection == NULL) crpc_die("no memory for a test");
    connection->h2.flush.run = on_flush;
    connection->h2.close.run = on_close;
    return connection;
}

static int start(carrier *carrier, crpc_connection *connection, int error) {
    if (error != CRPC_OK) {
        free(connection);
        return error;
    }
    carrier->connection = connection;
    crpc_connection_start(connection);
    return CRPC_OK;
}

int carrier_serve(carrier *carrier, crpc_service *service, const crpc_limits *limits) {
    crpc_connection *connection = new_connection();
    return start(carrier, connection, crpc_connection_begin_server(connection, service, limits, NULL, false));
}

int carrier_connect(
    carrier *carrier, const crpc_limits *limits, const crpc_client_callbacks *callbacks, void *context) {
    crpc_connection *connection = new_connection();
    int error = crpc_connection_begin_client(
        connection, &carrier->turn, limits, callbacks, context, "test.local", false);
    return start(carrier, connection, error);
}

void carrier_feed(carrier *carrier, const uint8_t *bytes, size_t length) {
    crpc_connection *connection = carrier->connection;
    if (connection == NULL || crpc_h2_is_broken(&connection->h2)) return;
    if (!crpc_connection_note_readable(connection)) return;
    while (length > 0) {
        size_t count = length < CRPC_READ_BUFFER ? length : CRPC_READ_BUFFER;
        if (!crpc_connection_feed(connection, bytes, count)) return;
        bytes += count;
        length -= count;
    }
    (void)crpc_connection_note_fed(connection); // if it cannot go on, the turn ends it
}

void carrier_turn(carrier *carrier, uint64_t ns) {
    carrier->turn.now_ns += ns;
    if (carrier->connection != NULL && crpc_connection_next_ns(carrier->connection) <= carrier->turn.now_ns)
        crpc_connection_on_time(carrier->connection);
    crpc_turn_end(&carrier->turn);
}

void carrier_take(carrier *carrier, size_t length) {
    carrier->sent_length -= length;
    if (carrier->sent_length > 0) memmove(carrier->sent, carrier->sent + length, carrier->sent_length);
}

void carrier_cut(carrier *carrier) {
    if (carrier->connection != NULL) crpc_h2_break(&carrier->connection->h2, CRPC_ERROR_CLOSED);
    carrier_turn(carrier, 0);
}

void carrier_end(carrier *carrier) {
    free(carrier->sent);
    free(carrier->turn.scratch);
}
