# Builds the libraries that sim-verilated loads. It extends the makefile that Verilator wrote, which contains the flags and objects of that version.
include Vmodel.mk

ifdef STELLAR_HEADERS
CPPFLAGS += -Winvalid-pch -include $(STELLAR_HEADERS)
endif

# Waves are half of a card's C++, and run only while they are written. g++ takes two thirds of the time for them with -Og, for code of the same size.
Vmodel__Trace__%.o: override OPT_FAST = -Og

# The model's library contains its own objects, the C interface, and the run-time library that the rule below builds once.
model.so: shim.o Vmodel__ALL.a $(STELLAR_RUNTIME)
	$(LINK) -shared -Wl,-Bsymbolic $(LDFLAGS) $^ $(LDLIBS) -o $@

# Verilator's run-time library. It is the same for all models that have the same tools and options.
runtime.a: $(VK_GLOBAL_OBJS)
	$(AR) -rcs $@ $^

# The compiled headers, which are the same for all models with the same tools and options. g++ rejects them for a file with other flags.
headers.h.gch: headers.h
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(OPT_FAST) -x c++-header -o $@ $<
