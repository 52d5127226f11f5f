#undef DEBUG // as in a release: the setters are inline, so that this file has those
#include "layer.h"
#include "test.h"

TEST(an_illegal_move_is_not_made_without_checks) {
    crpc_h2_stream stream = {0};
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_RESET);
    crpc_h2_stream_set_local(&stream, CRPC_LOCAL_OPEN);
    EXPECT_EQUAL(stream.local.state, CRPC_LOCAL_RESET);
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_CLOSED);
    crpc_h2_stream_set_remote(&stream, CRPC_REMOTE_BODY);
    EXPECT_EQUAL(stream.remote.state, CRPC_REMOTE_CLOSED);
    crpc_h2 h2 = {0};
    crpc_h2_set_state(&h2, CRPC_H2_BROKEN);
    crpc_h2_set_state(&h2, CRPC_H2_OPEN);
    EXPECT_EQUAL(h2.state, CRPC_H2_BROKEN);
    crpc_driver driver = {.phase = CRPC_PHASE_CLOSED};
    crpc_driver_set_phase(&driver, CRPC_PHASE_OPEN);
    EXPECT_EQUAL(driver.phase, CRPC_PHASE_CLOSED);
}
