// Top of the Alveo U55C: port QSFP0, PCIe Gen3 x16, 100 MHz free-running.
`default_nettype none

module u55c (
  input wire pcie_refclk_p,
  input wire pcie_refclk_n,
  input wire pcie_perst_n,
  input wire [15:0] pcie_rx_p,
  input wire [15:0] pcie_rx_n,
  output wire [15:0] pcie_tx_p,
  output wire [15:0] pcie_tx_n,
  input wire free_clk_p,
  input wire free_clk_n,
  input wire qsfp0_refclk_p,
  input wire qsfp0_refclk_n,
  input wire [3:0] qsfp0_rx_p,
  input wire [3:0] qsfp0_rx_n,
  output wire [3:0] qsfp0_tx_p,
  output wire [3:0] qsfp0_tx_n,
  output wire hbm_cattrip
);
  // The controller of the board cuts the power when this pin is high, or floats.
  assign hbm_cattrip = 1'b0;

  alveo_100g #(
    .FREE_PERIOD(10.0),
    .FREE_MULTIPLY(12.5)
  ) u_alveo (
    .pcie_refclk_p(pcie_refclk_p),
    .pcie_refclk_n(pcie_refclk_n),
    .pcie_perst_n(pcie_perst_n),
    .pcie_rx_p(pcie_rx_p),
    .pcie_rx_n(pcie_rx_n),
    .pcie_tx_p(pcie_tx_p),
    .pcie_tx_n(pcie_tx_n),
    .free_clk_p(free_clk_p),
    .free_clk_n(free_clk_n),
    .qsfp0_refclk_p(qsfp0_refclk_p),
    .qsfp0_refclk_n(qsfp0_refclk_n),
    .qsfp0_rx_p(qsfp0_rx_p),
    .qsfp0_rx_n(qsfp0_rx_n),
    .qsfp0_tx_p(qsfp0_tx_p),
    .qsfp0_tx_n(qsfp0_tx_n)
  );
endmodule

`default_nettype wire
