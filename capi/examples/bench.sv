// A memory of 4 words behind two ports; a load of port 1 may return what was there 3 writes ago.
module bench;
    import tribunal_pkg::*;
    longint unsigned session, memory[4], old[4], written = 0;
    int status;
    initial begin
        if (tribunal_open("sc", 2, session) < 0) $fatal(1, "no session");
        for (int i = 0; i < 1000; i++) begin
            automatic int unsigned port = $urandom & 1, at = $urandom & 3;
            #1;
            if (($urandom & 1) == 0) begin
                written++;
                if (written % 3 == 0) old = memory;
                memory[at] = written;
                status = tribunal_store(session, port, 64'(at), written, $time);
            end else begin
                automatic bit stale = port == 1 && i > 500;
                status = tribunal_load(
                    session, port, 64'(at), stale ? old[at] : memory[at], $time);
            end
            if (status < 0) $fatal(1, "%s", tribunal_last_error(session));
            if (status == TRIBUNAL_VIOLATION) break;
        end
        status = tribunal_finish(session);
        $display("%s after %0d events", tribunal_status_text(status), tribunal_events(session));
        if (status == TRIBUNAL_VIOLATION) $display("%s", tribunal_explanation(session));
        void'(tribunal_close(session));
        $finish;
    end
endmodule
