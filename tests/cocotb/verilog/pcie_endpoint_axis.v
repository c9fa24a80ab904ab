// The DMA engines, the host's queues and AMD's streams between them and a PCIe block, as on a board of one 512-bit lane.
//
// Toward the PCIe block: requester requests and completions with straddle, with the names that AMD's block has for them.
module pcie_endpoint_axis (
  input wire user_clk,
  input wire user_reset,
  // Requester requests.
  output wire [511:0] s_axis_rq_tdata,
  output wire [15:0] s_axis_rq_tkeep,
  output wire s_axis_rq_tlast,
  output wire [136:0] s_axis_rq_tuser,
  output wire s_axis_rq_tvalid,
  input wire s_axis_rq_tready,
  // Requester completions.
  input wire [511:0] m_axis_rc_tdata,
  input wire [15:0] m_axis_rc_tkeep,
  input wire m_axis_rc_tlast,
  input wire [160:0] m_axis_rc_tuser,
  input wire m_axis_rc_tvalid,
  output wire m_axis_rc_tready,
  // Completer requests and completions, with BAR4 behind them.
  input wire [511:0] m_axis_cq_tdata,
  input wire [15:0] m_axis_cq_tkeep,
  input wire m_axis_cq_tlast,
  input wire [182:0] m_axis_cq_tuser,
  input wire m_axis_cq_tvalid,
  output wire m_axis_cq_tready,
  output wire [511:0] s_axis_cc_tdata,
  output wire [15:0] s_axis_cc_tkeep,
  output wire s_axis_cc_tlast,
  output wire [80:0] s_axis_cc_tuser,
  output wire s_axis_cc_tvalid,
  input wire s_axis_cc_tready,
  input wire [3:0] cfg_interrupt_msix_enable,
  input wire [3:0] cfg_interrupt_msix_mask,
  // What the PCIe block says of itself.
  input wire [1:0] cfg_max_payload,
  input wire [2:0] cfg_max_read_req,
  input wire [30:0] read_timeout,
  // The packet buffer: frames are put there for place commands.
  input wire frame_write,
  input wire [11:0] frame_beat,
  input wire [511:0] frame_data,
  // Records: `PlaceCommand`, `ReadCommand`.
  input wire [253:0] s_axis_place_tdata,
  input wire s_axis_place_tvalid,
  output wire s_axis_place_tready,
  output wire fence_done,
  input wire [255:0] s_axis_read_tdata,
  input wire s_axis_read_tvalid,
  output wire s_axis_read_tready,
  // What was read; tuser is the command's user word, and whether the read failed.
  output wire [511:0] m_axis_read_tdata,
  output wire [63:0] m_axis_read_tkeep,
  output wire m_axis_read_tlast,
  output wire [32:0] m_axis_read_tuser,
  output wire m_axis_read_tvalid,
  input wire m_axis_read_tready,
  // Counters of the read engine's events.
  output reg [47:0] unexpected,
  output reg [47:0] bad_completions,
  output reg [47:0] timeouts,
  // The host's queues: `Completion`, refused doorbells, their rings, readers.
  input wire [193:0] s_axis_completion_tdata,
  input wire s_axis_completion_tvalid,
  output wire s_axis_completion_tready,
  input wire refused_valid,
  input wire [15:0] refused_page,
  input wire [23:0] refused_qp,
  output wire refused_ready,
  input wire [9:0] ring_qp,
  input wire [82:0] ring,
  input wire ring_valid,
  output wire ring_ready,
  input wire [82:0] event_ring,
  input wire event_ring_valid,
  output wire event_ring_ready,
  input wire [9:0] consumer_qp,
  input wire [23:0] consumer_index,
  input wire consumer_arm,
  input wire consumer_valid,
  output wire consumer_ready,
  output wire completion_lost,
  output wire [63:0] interrupt_pending
);
  // The packet buffer answers two clocks after the address, with the beat and its successor.
  reg [511:0] frames [0:4095];
  reg [511:0] low0, high0, low1, high1;
  wire [11:0] read_beat;
  wire [11:0] next_beat = read_beat + 12'd1;
  always @(posedge user_clk) begin
    if (frame_write) frames[frame_beat] <= frame_data;
    low0 <= frames[read_beat];
    high0 <= frames[next_beat];
    low1 <= low0;
    high1 <= high0;
  end

  wire dma_valid, dma_ready, dma_first, dma_last;
  wire [511:0] dma_data;
  wire [82:0] dma_header;
  dma_write_512_6_64 u_dma_write (
    .clock(user_clk),
    .reset(user_reset),
    .mps_code({1'b0, cfg_max_payload}),
    .command_valid(s_axis_place_tvalid),
    .command(s_axis_place_tdata),
    .command_ready(s_axis_place_tready),
    .fence_done(fence_done),
    .read_beat(read_beat),
    .read_low(low1),
    .read_high(high1),
    .tlp_valid(dma_valid),
    .tlp_ready(dma_ready),
    .tlp_data(dma_data),
    .tlp_header(dma_header),
    .tlp_first(dma_first),
    .tlp_last(dma_last)
  );

  // `BarAccess`.
  wire access_valid, access_ready, word_valid, word_unsupported;
  wire [103:0] access;
  wire [63:0] word;
  completer_512_16_183_96_81 u_completer (
    .clock(user_clk),
    .reset(user_reset),
    .cq_tvalid(m_axis_cq_tvalid),
    .cq_tready(m_axis_cq_tready),
    .cq_tdata(m_axis_cq_tdata),
    .cq_tkeep(m_axis_cq_tkeep),
    .cq_tlast(m_axis_cq_tlast),
    .cq_tuser(m_axis_cq_tuser),
    .cc_tvalid(s_axis_cc_tvalid),
    .cc_tready(s_axis_cc_tready),
    .cc_tdata(s_axis_cc_tdata),
    .cc_tkeep(s_axis_cc_tkeep),
    .cc_tlast(s_axis_cc_tlast),
    .cc_tuser(s_axis_cc_tuser),
    .access_valid(access_valid),
    .access(access),
    .access_ready(access_ready),
    .word_valid(word_valid),
    .word_data(word),
    .word_unsupported(word_unsupported),
    .messages(4'b0),
    .messages_left(3'b0),
    .refused(),
    .damaged()
  );

  wire vector_valid, vector_ready, vector_word_valid;
  wire [103:0] vector_access;
  wire [63:0] vector_word;
  bar_decoder u_bar_decoder (
    .clock(user_clk),
    .reset(user_reset),
    .access_valid(access_valid),
    .access(access),
    .access_ready(access_ready),
    .word_valid(word_valid),
    .word_data(word),
    .word_unsupported(word_unsupported),
    .register_read_done(1'b0),
    .register_read_data(64'b0),
    .doorbell_write_ready(1'b1),
    .vector_access_valid(vector_valid),
    .vector_access(vector_access),
    .vector_access_ready(vector_ready),
    .vector_word_valid(vector_word_valid),
    .vector_word_data(vector_word),
    .vector_word_unsupported(1'b0)
  );

  wire queue_valid, queue_ready, queue_first, queue_last;
  wire [511:0] queue_data;
  wire [82:0] queue_header;
  host_queues_2_512 u_host_queues (
    .clock(user_clk),
    .reset(user_reset),
    .send_valid(s_axis_completion_tvalid),
    .send(s_axis_completion_tdata),
    .send_ready(s_axis_completion_tready),
    .receive_valid(1'b0),
    .receive(194'b0),
    .qp_error_valid(1'b0),
    .qp_error_qp(10'b0),
    .qp_error_status(8'b0),
    .imm_threshold_valid(1'b0),
    .imm_threshold_qp(10'b0),
    .imm_threshold_count(32'b0),
    .doorbell_refused_valid(refused_valid),
    .doorbell_refused_page(refused_page),
    .doorbell_refused_qp(refused_qp),
    .doorbell_refused_ready(refused_ready),
    .completion_config_valid(ring_valid),
    .completion_config_qp(ring_qp),
    .completion_config(ring),
    .completion_config_ready(ring_ready),
    .event_config_valid(event_ring_valid),
    .event_config_queue(6'b0),
    .event_config(event_ring),
    .event_config_ready(event_ring_ready),
    .vector_access_valid(vector_valid),
    .vector_access(vector_access),
    .vector_access_ready(vector_ready),
    .vector_word_valid(vector_word_valid),
    .vector_word_data(vector_word),
    .msix_enable(cfg_interrupt_msix_enable[0]),
    .msix_mask(cfg_interrupt_msix_mask[0]),
    .message_permits(),
    .message_returned_valid(1'b0),
    .message_returned(6'b0),
    .consumer_valid(consumer_valid),
    .consumer_qp(consumer_qp),
    .consumer_index(consumer_index),
    .consumer_arm(consumer_arm),
    .consumer_ready(consumer_ready),
    .failed_ready(1'b1),
    .event_consumer_valid(1'b0),
    .event_consumer_queue(6'b0),
    .event_consumer_index(24'b0),
    .event_consumer_arm(1'b0),
    .tlp_valid(queue_valid),
    .tlp_ready(queue_ready),
    .tlp_data(queue_data),
    .tlp_header(queue_header),
    .tlp_first(queue_first),
    .tlp_last(queue_last),
    .interrupt_pending(interrupt_pending),
    .pulses_completions_lost(completion_lost)
  );

  wire write_valid, write_ready, write_first, write_last;
  wire [511:0] write_data;
  wire [82:0] write_header;
  write_arbiter_512_3_2 u_write_arbiter (
    .clock(user_clk),
    .reset(user_reset),
    .in0_valid(dma_valid),
    .in0_data(dma_data),
    .in0_header(dma_header),
    .in0_first(dma_first),
    .in0_last(dma_last),
    .in0_ready(dma_ready),
    .in1_valid(queue_valid),
    .in1_data(queue_data),
    .in1_header(queue_header),
    .in1_first(queue_first),
    .in1_last(queue_last),
    .in1_ready(queue_ready),
    .in2_valid(1'b0),
    .in2_data(512'b0),
    .in2_header(83'b0),
    .in2_first(1'b0),
    .in2_last(1'b0),
    .tlp_valid(write_valid),
    .tlp_ready(write_ready),
    .tlp_data(write_data),
    .tlp_header(write_header),
    .tlp_first(write_first),
    .tlp_last(write_last)
  );

  wire request_valid, request_ready;
  wire [90:0] request;
  request_stream_512_2_16_768_1024_137 u_request_stream (
    .clock(user_clk),
    .reset(user_reset),
    .link_down(1'b0),
    .revoked(1'b0),
    .messages_left(),
    .write_valid(write_valid),
    .write_ready(write_ready),
    .write_data(write_data),
    .write_header(write_header),
    .write_first(write_first),
    .write_last(write_last),
    .read_valid(request_valid),
    .read(request),
    .read_ready(request_ready),
    .rq_tvalid(s_axis_rq_tvalid),
    .rq_tready(s_axis_rq_tready),
    .rq_tdata(s_axis_rq_tdata),
    .rq_tkeep(s_axis_rq_tkeep),
    .rq_tlast(s_axis_rq_tlast),
    .rq_tuser(s_axis_rq_tuser)
  );

  wire completion_valid, completion_end, completion_error;
  wire [511:0] completion_data;
  wire [42:0] completion;
  completion_stream_512_1024_4_16_161 u_completion_stream (
    .clock(user_clk),
    .reset(user_reset),
    .rc_tvalid(m_axis_rc_tvalid),
    .rc_tready(m_axis_rc_tready),
    .rc_tdata(m_axis_rc_tdata),
    .rc_tkeep(m_axis_rc_tkeep),
    .rc_tlast(m_axis_rc_tlast),
    .rc_tuser(m_axis_rc_tuser),
    .completion_valid(completion_valid),
    .completion(completion),
    .completion_data(completion_data),
    .completion_last(completion_end),
    .completion_error(completion_error)
  );

  wire [41:0] beat;
  wire [3:0] events;
  dma_read_512_6_64_7_10_10 u_dma_read (
    .clock(user_clk),
    .reset(user_reset),
    .mrrs_code(cfg_max_read_req),
    .timeout(read_timeout),
    .command_valid(s_axis_read_tvalid),
    .command(s_axis_read_tdata),
    .command_ready(s_axis_read_tready),
    .request_valid(request_valid),
    .request(request),
    .request_ready(request_ready),
    .completion_valid(completion_valid),
    .completion(completion),
    .completion_data(completion_data),
    .completion_last(completion_end),
    .completion_error(completion_error),
    .out_valid(m_axis_read_tvalid),
    .out_data(m_axis_read_tdata),
    .out_beat(beat),
    .out_ready(m_axis_read_tready),
    .events(events)
  );
  // `ReadEvents`: unexpected, bad, damaged, timed out.
  always @(posedge user_clk)
    if (user_reset) begin
      unexpected <= 48'd0;
      bad_completions <= 48'd0;
      timeouts <= 48'd0;
    end else begin
      unexpected <= unexpected + events[0];
      bad_completions <= bad_completions + events[1] + events[2];
      timeouts <= timeouts + events[3];
    end
  // Bytes are contiguous from the lowest; a failed read has none, and keeps one so that its beat is a beat.
  assign m_axis_read_tkeep = beat[9] ? 64'd1 : ~64'd0 >> (7'd64 - beat[6:0]);
  assign m_axis_read_tlast = beat[8];
  assign m_axis_read_tuser = {beat[41:10], beat[9]};
endmodule
