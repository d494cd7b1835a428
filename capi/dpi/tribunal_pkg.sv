// Tribunal for SystemVerilog test benches, by DPI-C: import tribunal_pkg::*, compile this file with
// the test bench and link libtribunal_c. include/tribunal.h says what each call does; a session is a
// number, and a call that makes no sense returns a number below 0 and changes nothing.
package tribunal_pkg;
    localparam int TRIBUNAL_CONSISTENT = 0;
    localparam int TRIBUNAL_OPEN = 1;
    localparam int TRIBUNAL_UNDECIDED = 2;
    localparam int TRIBUNAL_VIOLATION = 3;
    localparam int TRIBUNAL_ERROR_SESSION = -1;
    localparam int TRIBUNAL_ERROR_MODEL = -2;
    localparam int TRIBUNAL_ERROR_ARGUMENT = -3;
    localparam int TRIBUNAL_ERROR_THREAD = -4;
    localparam int TRIBUNAL_ERROR_VALUE = -5;
    localparam int TRIBUNAL_ERROR_LATE = -6;
    localparam int TRIBUNAL_ERROR_FINISHED = -7;
    localparam int TRIBUNAL_ERROR_INTERNAL = -8;
    localparam int unsigned TRIBUNAL_LOADS = 1;
    localparam int unsigned TRIBUNAL_STORES = 2;

    import "DPI-C" function string tribunal_version();
    import "DPI-C" function string tribunal_status_text(input int status);
    import "DPI-C" function int tribunal_open(
        input string model, input int unsigned threads, output longint unsigned session);
    import "DPI-C" function int tribunal_initial(
        input longint unsigned session, input longint unsigned address,
        input longint unsigned value);
    import "DPI-C" function int tribunal_load(
        input longint unsigned session, input int unsigned thread,
        input longint unsigned address, input longint unsigned value,
        input longint unsigned time_now);
    import "DPI-C" function int tribunal_store(
        input longint unsigned session, input int unsigned thread,
        input longint unsigned address, input longint unsigned value,
        input longint unsigned time_now);
    import "DPI-C" function int tribunal_atomic(
        input longint unsigned session, input int unsigned thread,
        input longint unsigned address, input longint unsigned read,
        input longint unsigned written, input longint unsigned time_now);
    import "DPI-C" function int tribunal_fence(
        input longint unsigned session, input int unsigned thread,
        input int unsigned before_set, input int unsigned after_set,
        input longint unsigned time_now);
    import "DPI-C" function int tribunal_ask(input longint unsigned session);
    import "DPI-C" function int tribunal_finish(input longint unsigned session);
    import "DPI-C" function int tribunal_close(input longint unsigned session);
    import "DPI-C" function longint unsigned tribunal_events(input longint unsigned session);
    import "DPI-C" function string tribunal_explanation(input longint unsigned session);
    import "DPI-C" function string tribunal_last_error(input longint unsigned session);
endpackage
