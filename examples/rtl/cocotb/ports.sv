// The coherent system with its ports as plain vectors, core 1 in the upper half: cocotb reaches them with
// every simulator, which is not so for arrays of enumerations.
module ports
    import coherent_pkg::*;
(
    input  logic clk,
    input  logic rst,
    input  logic [1:0] bug,
    input  logic [1:0] req,
    input  logic [3:0] op,
    input  logic [2*AW-1:0] addr,
    input  logic [2*DW-1:0] wdata,
    output logic [1:0] done,
    output logic [2*DW-1:0] rdata
);
    logic cores_req [2], cores_done [2];
    op_t cores_op [2];
    addr_t cores_addr [2];
    data_t cores_wdata [2], cores_rdata [2];

    for (genvar i = 0; i < 2; i++) begin : core
        assign cores_req[i] = req[i];
        assign cores_op[i] = op_t'(op[2*i+:2]);
        assign cores_addr[i] = addr[AW*i+:AW];
        assign cores_wdata[i] = wdata[DW*i+:DW];
        assign done[i] = cores_done[i];
        assign rdata[DW*i+:DW] = cores_rdata[i];
    end

    coherent dut (
        .clk, .rst, .bug, .req(cores_req), .op(cores_op), .addr(cores_addr), .wdata(cores_wdata),
        .done(cores_done), .rdata(cores_rdata)
    );
endmodule
