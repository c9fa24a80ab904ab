# Builds what sim-verilated loads, on top of the makefile Verilator wrote (which knows the flags and objects of its own version).
include Vmodel.mk

# The model: its own objects, the C interface, and the run-time library built once by the rule below.
model.so: shim.o Vmodel__ALL.a $(STELLAR_RUNTIME)
	$(LINK) -shared -Wl,-Bsymbolic $(LDFLAGS) $^ $(LDLIBS) -o $@

# Verilator's run-time library, the same for every model with the same tools and options.
runtime.a: $(VK_GLOBAL_OBJS)
	$(AR) -rcs $@ $^
