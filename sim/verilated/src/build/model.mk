# Builds the libraries that sim-verilated loads. It extends the makefile that Verilator wrote, which contains the flags and objects of that version.
include Vmodel.mk

ifdef STELLAR_HEADERS
CPPFLAGS += -Winvalid-pch -include $(STELLAR_HEADERS)
endif

# g++ takes 0.3 s for what every file contains, the templates of the headers above all. So a model that Verilator does not want compiled in parts is one file,
# and a larger one is two, because code that runs once is optimised less. The files of a card stay as they are: together they would need too much memory.
# Waves of large models are compiled with -Og as well. They are half of a card's C++ and run only while they are written. g++ takes two thirds of the time.
WAVES = $(filter Vmodel__Trace__%,$(VM_FAST))
FAST_FILES = shim $(filter-out $(WAVES),$(VM_FAST))
SLOW_FILES = $(VM_SLOW) $(WAVES)
ifneq ($(VM_PARALLEL_BUILDS),1)
OBJECTS = all.o
else ifeq ($(word 33,$(FAST_FILES) $(SLOW_FILES)),)
OBJECTS = fast.o slow.o
else
OBJECTS = shim.o $(VK_OBJS)
endif
slow.o: override OPT_FAST = $(OPT_SLOW)
Vmodel__Trace__%.o: override OPT_FAST = -Og

all.cpp: FILES = $(FAST_FILES) $(SLOW_FILES)
fast.cpp: FILES = $(FAST_FILES)
slow.cpp: FILES = $(SLOW_FILES)
all.cpp fast.cpp slow.cpp:
	printf '#include "%s.cpp"\n' $(FILES) >$@

# The model's library contains its own objects with the C interface, and the run-time library that the rule below builds once.
model.so: $(OBJECTS) $(STELLAR_RUNTIME)
	$(LINK) -shared -Wl,-Bsymbolic $(LDFLAGS) $^ $(LDLIBS) -o $@

# Verilator's run-time library. It is the same for all models that have the same tools and options.
runtime.a: $(VK_GLOBAL_OBJS)
	$(AR) -rcs $@ $^

# The compiled headers, which are the same for all models with the same tools and options. g++ rejects them for a file with other flags.
headers.h.gch: headers.h
	$(CXX) $(CXXFLAGS) $(CPPFLAGS) $(OPT_FAST) -x c++-header -o $@ $<
