# Alveo U280, part xcu280-fsvh2892-2L-e. The crossings between clocks are in crossings.xdc, which is generated from the hardware.
# Where the second pin of a pair is not placed here, Vivado places it with the first one.

# PCIe, Gen3 x16: 100 MHz reference.
set_property PACKAGE_PIN AR15 [get_ports pcie_refclk_p]
set_property PACKAGE_PIN AR14 [get_ports pcie_refclk_n]
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_property PACKAGE_PIN BH26 [get_ports pcie_perst_n]
set_property IOSTANDARD LVCMOS18 [get_ports pcie_perst_n]
set_property PULLTYPE PULLUP [get_ports pcie_perst_n]
set_false_path -from [get_ports pcie_perst_n]
set_property PACKAGE_PIN AL2 [get_ports {pcie_rx_p[0]}]
set_property PACKAGE_PIN AM4 [get_ports {pcie_rx_p[1]}]
set_property PACKAGE_PIN AN6 [get_ports {pcie_rx_p[2]}]
set_property PACKAGE_PIN AN2 [get_ports {pcie_rx_p[3]}]
set_property PACKAGE_PIN AP4 [get_ports {pcie_rx_p[4]}]
set_property PACKAGE_PIN AR2 [get_ports {pcie_rx_p[5]}]
set_property PACKAGE_PIN AT4 [get_ports {pcie_rx_p[6]}]
set_property PACKAGE_PIN AU2 [get_ports {pcie_rx_p[7]}]
set_property PACKAGE_PIN AV4 [get_ports {pcie_rx_p[8]}]
set_property PACKAGE_PIN AW6 [get_ports {pcie_rx_p[9]}]
set_property PACKAGE_PIN AW2 [get_ports {pcie_rx_p[10]}]
set_property PACKAGE_PIN AY4 [get_ports {pcie_rx_p[11]}]
set_property PACKAGE_PIN BA6 [get_ports {pcie_rx_p[12]}]
set_property PACKAGE_PIN BA2 [get_ports {pcie_rx_p[13]}]
set_property PACKAGE_PIN BB4 [get_ports {pcie_rx_p[14]}]
set_property PACKAGE_PIN BC2 [get_ports {pcie_rx_p[15]}]
set_property PACKAGE_PIN AL11 [get_ports {pcie_tx_p[0]}]
set_property PACKAGE_PIN AM9 [get_ports {pcie_tx_p[1]}]
set_property PACKAGE_PIN AN11 [get_ports {pcie_tx_p[2]}]
set_property PACKAGE_PIN AP9 [get_ports {pcie_tx_p[3]}]
set_property PACKAGE_PIN AR11 [get_ports {pcie_tx_p[4]}]
set_property PACKAGE_PIN AR7 [get_ports {pcie_tx_p[5]}]
set_property PACKAGE_PIN AT9 [get_ports {pcie_tx_p[6]}]
set_property PACKAGE_PIN AU11 [get_ports {pcie_tx_p[7]}]
set_property PACKAGE_PIN AU7 [get_ports {pcie_tx_p[8]}]
set_property PACKAGE_PIN AV9 [get_ports {pcie_tx_p[9]}]
set_property PACKAGE_PIN AW11 [get_ports {pcie_tx_p[10]}]
set_property PACKAGE_PIN AY9 [get_ports {pcie_tx_p[11]}]
set_property PACKAGE_PIN BA11 [get_ports {pcie_tx_p[12]}]
set_property PACKAGE_PIN BB9 [get_ports {pcie_tx_p[13]}]
set_property PACKAGE_PIN BC11 [get_ports {pcie_tx_p[14]}]
set_property PACKAGE_PIN BC7 [get_ports {pcie_tx_p[15]}]

# Free-running, 100 MHz.
set_property PACKAGE_PIN G31 [get_ports free_clk_p]
set_property PACKAGE_PIN F31 [get_ports free_clk_n]
set_property IOSTANDARD LVDS [get_ports free_clk_p]
set_property IOSTANDARD LVDS [get_ports free_clk_n]
create_clock -period 10.000 -name free_clk [get_ports free_clk_p]

# QSFP0. Reference 156.25 MHz (SI570).
set_property PACKAGE_PIN T42 [get_ports qsfp0_refclk_p]
set_property PACKAGE_PIN T43 [get_ports qsfp0_refclk_n]
create_clock -period 6.400 -name qsfp0_refclk [get_ports qsfp0_refclk_p]
set_property PACKAGE_PIN L53 [get_ports {qsfp0_rx_p[0]}]
set_property PACKAGE_PIN K51 [get_ports {qsfp0_rx_p[1]}]
set_property PACKAGE_PIN J53 [get_ports {qsfp0_rx_p[2]}]
set_property PACKAGE_PIN H51 [get_ports {qsfp0_rx_p[3]}]
set_property PACKAGE_PIN L48 [get_ports {qsfp0_tx_p[0]}]
set_property PACKAGE_PIN L44 [get_ports {qsfp0_tx_p[1]}]
set_property PACKAGE_PIN K46 [get_ports {qsfp0_tx_p[2]}]
set_property PACKAGE_PIN J48 [get_ports {qsfp0_tx_p[3]}]

# Catastrophic temperature of the HBM, to the board's controller: driven low.
set_property PACKAGE_PIN D32 [get_ports hbm_cattrip]
set_property IOSTANDARD LVCMOS18 [get_ports hbm_cattrip]
set_property PULLTYPE PULLDOWN [get_ports hbm_cattrip]
set_false_path -to [get_ports hbm_cattrip]

# The MAC's shim beside its CMAC. Its streams to the card have a register at each end.
create_pblock pblock_shim
add_cells_to_pblock [get_pblocks pblock_shim] [get_cells u_alveo/u_port/u_shim]
resize_pblock [get_pblocks pblock_shim] -add SLR2

# Configuration from the flash.
set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property CFGBVS GND [current_design]
set_property CONFIG_MODE SPIx4 [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR Yes [current_design]
set_property BITSTREAM.CONFIG.SPI_FALL_EDGE Yes [current_design]
set_property BITSTREAM.CONFIG.CONFIGRATE 85.0 [current_design]
set_property BITSTREAM.CONFIG.EXTMASTERCCLK_EN disable [current_design]
set_property BITSTREAM.CONFIG.CONFIGFALLBACK Enable [current_design]
set_property BITSTREAM.CONFIG.UNUSEDPIN Pullup [current_design]
set_property BITSTREAM.CONFIG.OVERTEMPSHUTDOWN Enable [current_design]
set_property BITSTREAM.GENERAL.COMPRESS TRUE [current_design]
set_operating_conditions -design_power_budget 160
