// Random clients for both cores; every access goes to Tribunal as it ends, and the simulation ends at
// the first violation of TSO. Plusargs: +accesses=N +seed=N +bug=0..3 +wave=FILE.fst
module bench;
    import coherent_pkg::*;
    import tribunal_pkg::*;

    logic clk = 0, rst = 1;
    logic [1:0] bug = 0;
    logic req [2];
    op_t op [2];
    addr_t addr [2];
    data_t wdata [2];
    logic done [2];
    data_t rdata [2];
    coherent dut (.*);

    always #5 clk = !clk;

    longint unsigned session;
    int unsigned accesses = 1000000, seed = 1, finished = 0, written = 0;
    int status = 0;
    string wave;

    // Tells what a core has just done.
    function automatic int told(input int unsigned core);
        case (op[core])
            LOAD: return tribunal_load(session, core, 64'(addr[core]), 64'(rdata[core]), $time);
            STORE: return tribunal_store(session, core, 64'(addr[core]), 64'(wdata[core]), $time);
            SWAP: return tribunal_atomic(
                session, core, 64'(addr[core]), 64'(rdata[core]), 64'(wdata[core]), $time);
            default: return tribunal_fence(
                session, core, TRIBUNAL_LOADS + TRIBUNAL_STORES, TRIBUNAL_LOADS + TRIBUNAL_STORES, $time);
        endcase
    endfunction

    // The next access of a core: every store writes a value of its own.
    task automatic draw(input int core);
        automatic int unsigned dice = $urandom % 100;
        req[core] <= 1;
        op[core] <= dice < 48 ? LOAD : dice < 90 ? STORE : dice < 97 ? SWAP : FENCE;
        addr[core] <= addr_t'($urandom);
        written++;
        wdata[core] <= written;
    endtask

    task automatic conclude;
        status = tribunal_finish(session);
        $display("%s: %0d events, seed %0d, bug %0d, time %0t",
            tribunal_status_text(status), tribunal_events(session), seed, bug, $time);
        if (status != TRIBUNAL_CONSISTENT) $display("%s", tribunal_explanation(session));
        $finish;
    endtask

    initial begin
        void'($value$plusargs("accesses=%d", accesses));
        void'($value$plusargs("seed=%d", seed));
        void'($value$plusargs("bug=%d", bug));
        void'($urandom(seed));
        if ($value$plusargs("wave=%s", wave)) begin
            $dumpfile(wave);
            $dumpvars;
        end
        if (tribunal_open("tso", 2, session) < 0) $fatal(1, "no session");
        req = '{default: 0};
        #32 rst = 0;  // between two edges of the clock
    end

    always @(posedge clk)
        if (!rst && status != TRIBUNAL_VIOLATION && finished < accesses)
            for (int core = 0; core < 2; core++) begin
                if (req[core] && done[core]) begin
                    automatic int now = told(core);
                    if (now < 0) $fatal(1, "%s", tribunal_last_error(session));
                    finished++;
                    // Events look for violations at times that cost little; this looks at once.
                    if (finished % 4096 == 0) now = tribunal_ask(session);
                    if (now == TRIBUNAL_VIOLATION) status = now;
                    req[core] <= 0;
                end
                if (!req[core] || done[core])
                    if (($urandom & 3) != 0) draw(core);
            end
        else if (!rst) conclude;
endmodule
