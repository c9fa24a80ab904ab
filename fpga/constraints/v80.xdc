# Alveo V80, part xcv80-lsva4737-2MHP-e-S. The crossings between clocks are in crossings.xdc, which is generated from the hardware.
# PCIe has no pins here: the transceivers of CPM5 belong to its controllers, and its resets come through pins of the platform controller (tcl/ip.tcl). Its clocks and those of
# the transceivers and the clock wizard are constrained by AMD's cores.

# QSFP0 and QSFP1 have one reference, 322.265625 MHz. Its second pin is not known; Vivado places it with the first one.
set_property PACKAGE_PIN AR51 [get_ports qsfp0_refclk_p]
create_clock -period 3.103 -name qsfp0_refclk [get_ports qsfp0_refclk_p]

# QSFP0: quad 209.
set_property PACKAGE_PIN AE67 [get_ports {qsfp0_rx_p[0]}]
set_property PACKAGE_PIN AE64 [get_ports {qsfp0_rx_p[1]}]
set_property PACKAGE_PIN AC67 [get_ports {qsfp0_rx_p[2]}]
set_property PACKAGE_PIN AC64 [get_ports {qsfp0_rx_p[3]}]
set_property PACKAGE_PIN AE68 [get_ports {qsfp0_rx_n[0]}]
set_property PACKAGE_PIN AE65 [get_ports {qsfp0_rx_n[1]}]
set_property PACKAGE_PIN AC68 [get_ports {qsfp0_rx_n[2]}]
set_property PACKAGE_PIN AC65 [get_ports {qsfp0_rx_n[3]}]
set_property PACKAGE_PIN AG61 [get_ports {qsfp0_tx_p[0]}]
set_property PACKAGE_PIN AG58 [get_ports {qsfp0_tx_p[1]}]
set_property PACKAGE_PIN AE61 [get_ports {qsfp0_tx_p[2]}]
set_property PACKAGE_PIN AE58 [get_ports {qsfp0_tx_p[3]}]
set_property PACKAGE_PIN AG62 [get_ports {qsfp0_tx_n[0]}]
set_property PACKAGE_PIN AG59 [get_ports {qsfp0_tx_n[1]}]
set_property PACKAGE_PIN AE62 [get_ports {qsfp0_tx_n[2]}]
set_property PACKAGE_PIN AE59 [get_ports {qsfp0_tx_n[3]}]

# QSFP1: quad 210.
set_property PACKAGE_PIN AA67 [get_ports {qsfp1_rx_p[0]}]
set_property PACKAGE_PIN AA64 [get_ports {qsfp1_rx_p[1]}]
set_property PACKAGE_PIN W67 [get_ports {qsfp1_rx_p[2]}]
set_property PACKAGE_PIN W64 [get_ports {qsfp1_rx_p[3]}]
set_property PACKAGE_PIN AA68 [get_ports {qsfp1_rx_n[0]}]
set_property PACKAGE_PIN AA65 [get_ports {qsfp1_rx_n[1]}]
set_property PACKAGE_PIN W68 [get_ports {qsfp1_rx_n[2]}]
set_property PACKAGE_PIN W65 [get_ports {qsfp1_rx_n[3]}]
set_property PACKAGE_PIN AC61 [get_ports {qsfp1_tx_p[0]}]
set_property PACKAGE_PIN AC58 [get_ports {qsfp1_tx_p[1]}]
set_property PACKAGE_PIN AA61 [get_ports {qsfp1_tx_p[2]}]
set_property PACKAGE_PIN AA58 [get_ports {qsfp1_tx_p[3]}]
set_property PACKAGE_PIN AC62 [get_ports {qsfp1_tx_n[0]}]
set_property PACKAGE_PIN AC59 [get_ports {qsfp1_tx_n[1]}]
set_property PACKAGE_PIN AA62 [get_ports {qsfp1_tx_n[2]}]
set_property PACKAGE_PIN AA59 [get_ports {qsfp1_tx_n[3]}]
