#include "layer.h"
#include "test.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

// The tables of allowed moves, and the setters that ask them.

typedef struct machine {
    const char *name;
    const uint8_t *moves;
    unsigned states, last; // the state that all may end in
    const char *allowed;   // pairs of states, in rising order
    unsigned others_first; // states beside the first that a life may begin with
    unsigned again;        // states that a life comes back to
} machine;

static const machine machines[] = {
    {"connection", crpc_h2_moves, CRPC_H2_STATES, CRPC_H2_CLOSED, "01 02 03 12 13 23 34", 0, 0},
    {"local", crpc_local_moves, CRPC_LOCAL_STATES, CRPC_LOCAL_RESET, "01 02 03 12 13 23", 0, 0},
    {"remote", crpc_remote_moves, CRPC_REMOTE_STATES, CRPC_REMOTE_RESET, "01 02 03 12 13 23", 0, 0},
    {"driver", crpc_phase_moves, CRPC_PHASES, CRPC_PHASE_CLOSED, "02 04 05 12 13 14 15 24 25 34 35 45",
     CRPC_TO(CRPC_PHASE_PROXYING) | CRPC_TO(CRPC_PHASE_HANDSHAKING) | CRPC_TO(CRPC_PHASE_TELLING), 0},
    {"HTTP/1.x", crpc_h1_moves, CRPC_H1_STATES, CRPC_H1_CLOSED, "01 02 12 23", 0, 0},
    {"request", crpc_h1_coming_moves, CRPC_H1_COMINGS, CRPC_H1_DEAF, "01 02 03 12 13 20 23", 0, CRPC_TO(CRPC_H1_HEAD)},
    {"answer", crpc_h1_answer_moves, CRPC_H1_ANSWERS, CRPC_H1_ANSWERS, "01 10 12 13 20 23 30", 0,
     CRPC_TO(CRPC_H1_ANSWER_NONE)},
};
enum { MACHINES = sizeof machines / sizeof machines[0] };

TEST(moves_are_those_that_the_headers_draw) {
    for (int m = 0; m < MACHINES; m++) {
        char allowed[128];
        size_t length = 0;
        test_note("%s", machines[m].name);
        for (unsigned from = 0; from < machines[m].states; from++)
            for (unsigned to = 0; to < machines[m].states; to++) {
                if ((machines[m].moves[from] & CRPC_TO(to)) == 0) continue;
                if (length > 0) allowed[length++] = ' ';
                allowed[length++] = (char)('0' + from);
                allowed[length++] = (char)('0' + to);
            }
        EXPECT_TEXT(allowed, length, machines[m].allowed);
    }
}

TEST(every_state_is_reached_and_none_is_left_backward) {
    for (int m = 0; m < MACHINES; m++) {
        unsigned reached = 1 | machines[m].others_first;
        test_note("%s", machines[m].name);
        for (unsigned from = 0; from < machines[m].states; from++) {
            unsigned moves = machines[m].moves[from];
            if (reached & CRPC_TO(from)) reached |= moves;
            EXPECT_EQUAL(moves & (CRPC_TO(from + 1) - 1) & ~machines[m].again, 0); // only onward, so that every life ends
            EXPECT_EQUAL(moves >> machines[m].states, 0);
            EXPECT_EQUAL(moves == 0, from == machines[m].last);
        }
        EXPECT_EQUAL(reached, CRPC_TO(machines[m].states) - 1);
    }
}

/// How a process ends that makes a move.
static int outcome_of(void (*move)(void)) {
    pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        (void)close(STDERR_FILENO);
        move();
        _exit(0);
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    return status;
}

static crpc_h2_stream stream;
static crpc_h2 h2;
static crpc_driver driver;
static void send_after_reset(void) {
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_RESET);
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_OPEN);
}
static void end_twice(void) {
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_CLOSED);
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_CLOSED);
}
static void open_what_is_broken(void) {
    crpc_h2_set_state(&h2, CRPC_H2_BROKEN);
    crpc_h2_set_state(&h2, CRPC_H2_OPEN);
}
static void open_what_is_closed(void) {
    crpc_driver_set_phase(&driver, CRPC_PHASE_CLOSED);
    crpc_driver_set_phase(&driver, CRPC_PHASE_OPEN);
}
static void live_a_whole_life(void) {
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_OPEN);
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_FINISHED);
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_BODY);
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_CLOSED);
    crpc_h2_set_state(&h2, CRPC_H2_DRAINING);
    crpc_h2_set_state(&h2, CRPC_H2_FINAL);
    crpc_h2_set_state(&h2, CRPC_H2_BROKEN);
    crpc_h2_set_state(&h2, CRPC_H2_CLOSED);
    crpc_driver_set_phase(&driver, CRPC_PHASE_HANDSHAKING);
    crpc_driver_set_phase(&driver, CRPC_PHASE_OPEN);
    crpc_driver_set_phase(&driver, CRPC_PHASE_CLOSED);
}

TEST(an_illegal_move_ends_a_process_with_checks) {
    EXPECT_EQUAL(outcome_of(live_a_whole_life), 0);
    void (*const illegal[])(void) = {send_after_reset, end_twice, open_what_is_broken, open_what_is_closed};
    for (size_t i = 0; i < sizeof illegal / sizeof illegal[0]; i++) {
        int status = outcome_of(illegal[i]);
        test_note("move %zu", i);
        EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}
