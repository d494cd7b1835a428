// Two cores' worth of memory: an L1 cache with a store buffer for each, MSI on a snooping bus, and a
// memory. Loads, stores, atomic swaps and fences; total store order is the promise. Two faults can be
// switched on, each the kind that passes directed tests.
//
//   bug[0]  a snooped invalidation is lost while the same cache line serves a load of its own core
//   bug[1]  an atomic swap does not wait for stores to other addresses that are still buffered
package coherent_pkg;
    localparam int AW = 3;  // 8 words of memory, 2 lines of one word in each cache
    localparam int DW = 32;
    typedef enum logic [1:0] {LOAD, STORE, SWAP, FENCE} op_t;
    typedef enum logic [1:0] {INVALID, SHARED, MODIFIED} state_t;
    typedef enum logic [1:0] {READ, OWN, WRITEBACK} bus_t;
    typedef logic [AW-1:0] addr_t;
    typedef logic [DW-1:0] data_t;
endpackage

// A cache with its store buffer. The core has one access under way at a time; a store is done when it
// is buffered, and drains in the background.
module l1
    import coherent_pkg::*;
(
    input  logic   clk,
    input  logic   rst,
    input  logic [1:0] bug,
    // the core: a request is held until `done`
    input  logic   req,
    input  op_t    op,
    input  addr_t  addr,
    input  data_t  wdata,
    output logic   done,
    output data_t  rdata,
    // the bus: what this cache wants, and the end of its transaction
    output logic   want,
    output bus_t   want_kind,
    output addr_t  want_addr,
    input  logic   mine,
    input  bus_t   bus_kind,
    input  addr_t  bus_addr,
    input  data_t  bus_rdata,
    output data_t  bus_wdata,
    // the end of a transaction of the other cache
    input  logic   snoop,
    output logic   snoop_hit
);
    localparam int DEPTH = 4;

    state_t state [2];
    logic [AW-2:0] tag [2];
    data_t data [2];

    addr_t buffer_addr [DEPTH];
    data_t buffer_data [DEPTH];
    logic [2:0] used;

    function automatic logic hit(input addr_t a);
        return state[a[0]] != INVALID && tag[a[0]] == a[AW-1:1];
    endfunction
    function automatic logic owned(input addr_t a);
        return state[a[0]] == MODIFIED && tag[a[0]] == a[AW-1:1];
    endfunction

    // The youngest buffered store of the address, if there is one.
    logic forwarded;
    data_t forward;
    always_comb begin
        forwarded = 0;
        forward = '0;
        for (int i = 0; i < DEPTH; i++)
            if (i < int'(used) && buffer_addr[i] == addr) begin
                forwarded = 1;
                forward = buffer_data[i];
            end
    end

    // The arrays change at the end of a transaction; the core waits for a cycle then.
    logic busy, may_swap, drains;
    assign busy = snoop || mine;
    assign may_swap = used == 0 || (bug[1] && !forwarded);
    assign drains = used != 0 && !busy && owned(buffer_addr[0]);

    always_comb begin
        done = 0;
        rdata = '0;
        if (req && !busy)
            case (op)
                LOAD: begin
                    done = forwarded || hit(addr);
                    rdata = forwarded ? forward : data[addr[0]];
                end
                STORE: done = int'(used) < DEPTH;
                SWAP: begin
                    done = may_swap && owned(addr);
                    rdata = data[addr[0]];
                end
                FENCE: done = used == 0;
            endcase
    end

    // What is needed next: the core's access first, then the oldest buffered store. A modified line
    // that is in the way is written back before.
    addr_t need;
    always_comb begin
        want = 1;
        need = addr;
        want_kind = READ;
        if (req && op == LOAD && !forwarded && !hit(addr)) want_kind = READ;
        else if (req && op == SWAP && may_swap && !owned(addr)) want_kind = OWN;
        else if (used != 0 && !owned(buffer_addr[0])) begin
            need = buffer_addr[0];
            want_kind = OWN;
        end else want = 0;
        want_addr = need;
        if (state[need[0]] == MODIFIED && tag[need[0]] != need[AW-1:1]) begin
            want_kind = WRITEBACK;
            want_addr = {tag[need[0]], need[0]};
        end
    end

    assign bus_wdata = data[bus_addr[0]];
    assign snoop_hit = owned(bus_addr);

    always_ff @(posedge clk) begin
        if (rst) begin
            state <= '{default: INVALID};
            used <= 0;
        end else begin
            if (mine) begin
                if (bus_kind == WRITEBACK) state[bus_addr[0]] <= INVALID;
                else begin
                    state[bus_addr[0]] <= bus_kind == OWN ? MODIFIED : SHARED;
                    tag[bus_addr[0]] <= bus_addr[AW-1:1];
                    data[bus_addr[0]] <= bus_rdata;
                end
            end else if (snoop && hit(bus_addr) && bus_kind != WRITEBACK) begin
                if (bus_kind == READ) state[bus_addr[0]] <= SHARED;
                else if (!(bug[0] && req && op == LOAD && addr == bus_addr))
                    state[bus_addr[0]] <= INVALID;
            end
            if (drains) data[buffer_addr[0][0]] <= buffer_data[0];
            if (done && op == SWAP) data[addr[0]] <= wdata;
            // The buffer moves up by one where a store drains, and takes a new one at its end.
            for (int i = 0; i < DEPTH; i++) begin
                if (drains && i + 1 < DEPTH) begin
                    buffer_addr[i] <= buffer_addr[i+1];
                    buffer_data[i] <= buffer_data[i+1];
                end
                if (done && op == STORE && i == int'(used) - int'(drains)) begin
                    buffer_addr[i] <= addr;
                    buffer_data[i] <= wdata;
                end
            end
            used <= used + 3'(done && op == STORE) - 3'(drains);
        end
    end
endmodule

// Both caches, the bus and the memory. One transaction at a time; it takes LATENCY cycles, and all its
// effects happen at its end.
module coherent
    import coherent_pkg::*;
#(
    parameter int LATENCY = 3
) (
    input  logic  clk,
    input  logic  rst,
    input  logic [1:0] bug,
    input  logic  req [2],
    input  op_t   op [2],
    input  addr_t addr [2],
    input  data_t wdata [2],
    output logic  done [2],
    output data_t rdata [2]
);
    data_t memory [1 << AW];

    logic want [2], hit [2], mine [2];
    bus_t want_kind [2];
    addr_t want_addr [2];
    data_t cache_data [2];

    logic active, owner, last, ends;
    logic [3:0] count;
    bus_t kind;
    addr_t at;
    data_t from;

    for (genvar i = 0; i < 2; i++) begin : cache
        l1 l1 (
            .clk, .rst, .bug,
            .req(req[i]), .op(op[i]), .addr(addr[i]), .wdata(wdata[i]),
            .done(done[i]), .rdata(rdata[i]),
            .want(want[i]), .want_kind(want_kind[i]), .want_addr(want_addr[i]),
            .mine(mine[i]), .bus_kind(kind), .bus_addr(at), .bus_rdata(from),
            .bus_wdata(cache_data[i]), .snoop(mine[1-i]), .snoop_hit(hit[i])
        );
        assign mine[i] = ends && owner == 1'(i);
    end

    assign ends = active && count == 0;
    assign from = hit[!owner] ? cache_data[!owner] : memory[at];

    always_ff @(posedge clk) begin
        if (rst) begin
            active <= 0;
            last <= 0;
            memory <= '{default: '0};
        end else if (ends) begin
            active <= 0;
            if (kind == WRITEBACK) memory[at] <= cache_data[owner];
            else memory[at] <= from;
        end else if (active) count <= count - 1;
        else if (want[0] || want[1]) begin
            automatic logic next = want[!last] ? !last : last;
            active <= 1;
            owner <= next;
            last <= next;
            kind <= want_kind[next];
            at <= want_addr[next];
            count <= 4'(LATENCY - 1);
        end
    end
endmodule
