#include "grpc/held_calls.h"

void crpc_give_back_withheld(crpc_connection *connection) {
    size_t kept = crpc_holds_much(connection) ? connection->held.unreleased_bytes : 0;
    if (connection->held.withheld_bytes <= kept) return;
    size_t given = connection->held.withheld_bytes - kept;
    connection->held.withheld_bytes = kept;
    if (crpc_session_give_back(&connection->h2, given) != CRPC_OK) crpc_h2_break(&connection->h2, CRPC_ERROR_MEMORY);
    crpc_h2_mark(&connection->h2);
}
