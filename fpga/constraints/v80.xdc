# Alveo V80, part xcv80-lsva4737-2MHP-e-S: the pins of both ports. There is no top for it yet (docs/boards.md); the names are those that it will have.
# PCIe has no pins here: CPM5 has fixed transceivers, and its reset comes through the PMC.

# QSFP0 and QSFP1 have one reference, 322.265625 MHz.
set_property PACKAGE_PIN AR51 [get_ports qsfp0_refclk_p]
create_clock -period 3.103 -name qsfp0_refclk [get_ports qsfp0_refclk_p]
set_property PACKAGE_PIN AE67 [get_ports {qsfp0_rx_p[0]}]
set_property PACKAGE_PIN AE64 [get_ports {qsfp0_rx_p[1]}]
set_property PACKAGE_PIN AC67 [get_ports {qsfp0_rx_p[2]}]
set_property PACKAGE_PIN AC64 [get_ports {qsfp0_rx_p[3]}]
set_property PACKAGE_PIN AG61 [get_ports {qsfp0_tx_p[0]}]
set_property PACKAGE_PIN AG58 [get_ports {qsfp0_tx_p[1]}]
set_property PACKAGE_PIN AE61 [get_ports {qsfp0_tx_p[2]}]
set_property PACKAGE_PIN AE58 [get_ports {qsfp0_tx_p[3]}]
set_property PACKAGE_PIN AA67 [get_ports {qsfp1_rx_p[0]}]
set_property PACKAGE_PIN AA64 [get_ports {qsfp1_rx_p[1]}]
set_property PACKAGE_PIN W67 [get_ports {qsfp1_rx_p[2]}]
set_property PACKAGE_PIN W64 [get_ports {qsfp1_rx_p[3]}]
set_property PACKAGE_PIN AC61 [get_ports {qsfp1_tx_p[0]}]
set_property PACKAGE_PIN AC58 [get_ports {qsfp1_tx_p[1]}]
set_property PACKAGE_PIN AA61 [get_ports {qsfp1_tx_p[2]}]
set_property PACKAGE_PIN AA58 [get_ports {qsfp1_tx_p[3]}]
