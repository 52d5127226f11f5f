/// State machines: tables of allowed moves, and what becomes of a move that is in none. Pure; any thread.
///
/// A machine's header draws its states. Its table has a row for each: the states that one may go to, as bits. Its setter
/// is the only function that writes the state, and asks here first.
#ifndef CRPC_STATES_H
#define CRPC_STATES_H

#include <stdbool.h>
#include <stdint.h>

/// Ends the process, for what must not happen.
_Noreturn void crpc_die(const char *why);

#define CRPC_TO(state) (1u << (state))

/// Whether a machine may go from one state to another. An illegal move is a fault of this layer. With DEBUG, as in tests, it
/// ends the process. Otherwise it is not made: the others that a server serves go on, and what has ended stays so.
static inline bool crpc_may_move(const uint8_t *moves, unsigned from, unsigned to, const char *machine) {
    if ((moves[from] & CRPC_TO(to)) != 0) return true;
#ifdef DEBUG
    crpc_die(machine);
#else
    (void)machine;
#endif
    return false;
}

#endif
