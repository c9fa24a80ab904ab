# Builds the libraries that sim-verilated loads. It extends the makefile that Verilator wrote, which contains the flags and objects of that version.
include Vmodel.mk

# The model's library contains its own objects, the C interface, and the run-time library that the rule below builds once.
model.so: shim.o Vmodel__ALL.a $(STELLAR_RUNTIME)
	$(LINK) -shared -Wl,-Bsymbolic $(LDFLAGS) $^ $(LDLIBS) -o $@

# Verilator's run-time library. It is the same for all models that have the same tools and options.
runtime.a: $(VK_GLOBAL_OBJS)
	$(AR) -rcs $@ $^
