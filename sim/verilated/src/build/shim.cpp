// C interface of one Verilated model, compiled into its shared library and loaded by the Rust crate sim-verilated.
// ports.inc, generated beside this file, lists the addresses of the top-level ports in the order of the specification.
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "Vmodel.h"
#include "verilated.h"
#if VM_COVERAGE
#include "verilated_cov.h"
#endif
#if VM_TRACE
#include "verilated_fst_c.h"
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

// Verilator's default handlers print a message and abort the process. This one throws, so that eval() can report the place to its caller. A handler
// that returned would not end the loop in which Verilator evaluates combinational logic that does not settle.
static void fail(const char* filename, int line, const std::string& what) {
    const std::string place = filename && filename[0] ? std::string(filename) + ":" + std::to_string(line) + ": " : "";
    throw std::runtime_error(place + what);
}
void vl_finish(const char* filename, int line, const char*) { fail(filename, line, "Verilog $finish"); }
void vl_stop(const char* filename, int line, const char*) { fail(filename, line, "Verilog $stop or failed assertion"); }
void vl_fatal(const char* filename, int line, const char*, const char* message) { fail(filename, line, message); }

#if STELLAR_GATED
#include "gating.h"
#else
namespace {
struct Gating {
    explicit Gating(Vmodel&) {}
    void eval(Vmodel& top, uint64_t) { top.eval(); }
};
}  // namespace
#endif

namespace {
struct Instance {
    VerilatedContext context;
    std::unique_ptr<Vmodel> top;
    std::unique_ptr<Gating> gating;
#if VM_TRACE
    std::unique_ptr<VerilatedFstC> trace;
#endif
    std::string message;
};

// Verilator's run time looks for plus arguments, and for the scopes that a destructor removes, in the context of the thread. That is the context that was
// made last, unless it is set: it may be gone by then.
Instance& at(void* handle) {
    auto& instance = *static_cast<Instance*>(handle);
    Verilated::threadContextp(&instance.context);
    return instance;
}
}  // namespace

EXPORT void* stellar_new() {
    try {
        auto instance = std::make_unique<Instance>();
        // Without any arguments, $test$plusargs would be an error.
        const char* arguments[] = {"model"};
        instance->context.commandArgs(1, arguments);
        instance->context.randReset(0);
        instance->context.randSeed(1);
#if VM_TRACE
        instance->context.traceEverOn(true);
#endif
        instance->top = std::make_unique<Vmodel>(&instance->context, "TOP");
        instance->gating = std::make_unique<Gating>(*instance->top);
        return instance.release();
    } catch (const std::exception&) {
        return nullptr;
    }
}

EXPORT void stellar_delete(void* handle) {
    std::unique_ptr<Instance> instance(&at(handle));
    try {
        instance->top->final();
    } catch (const std::exception&) {
        // A $stop in a final block has no effect: the run has ended and no caller could receive the message.
    }
#if VM_TRACE
    if (instance->trace) instance->trace->close();
    instance->trace.reset();
#endif
    instance->top.reset();
}

EXPORT void stellar_ports(void* handle, void** addresses) {
    Vmodel* const top = at(handle).top.get();
    void* const list[] = {
#include "ports.inc"
    };
    for (void* address : list) *addresses++ = address;
}

// Evaluates the model. `changed` has the groups of the inputs that have changed since the last evaluation (library.rs), the clock not among them. Returns 0, or 1 if the model stopped
// itself; stellar_message then returns the reason.
EXPORT int stellar_eval(void* handle, uint64_t time_ps, uint64_t changed) {
    Instance& instance = at(handle);
    try {
        instance.context.time(time_ps);
        instance.gating->eval(*instance.top, changed);
        return 0;
    } catch (const std::exception& error) {
        instance.message = error.what();
        return 1;
    }
}

// An argument as on a simulator's command line, without its `+`: what $test$plusargs finds.
EXPORT void stellar_plus_argument(void* handle, const char* argument) {
    const std::string text = std::string("+") + argument;
    const char* arguments[] = {text.c_str()};
    at(handle).context.commandArgsAdd(1, arguments);
}

EXPORT const char* stellar_message(void* handle) { return at(handle).message.c_str(); }

#if VM_TRACE
// Returns 0, or 1 if the file could not be opened.
EXPORT int stellar_trace_open(void* handle, const char* path) {
    Instance& instance = at(handle);
    try {
        instance.trace = std::make_unique<VerilatedFstC>();
        instance.top->trace(instance.trace.get(), 99);
        instance.trace->open(path);
        if (instance.trace->isOpen()) return 0;
    } catch (const std::exception& error) {
        instance.message = error.what();
    }
    instance.trace.reset();
    return 1;
}

EXPORT void stellar_trace_dump(void* handle, uint64_t time_ps) { at(handle).trace->dump(time_ps); }

EXPORT void stellar_trace_close(void* handle) {
    at(handle).trace->close();
    at(handle).trace.reset();
}
#endif

#if VM_COVERAGE
// Returns 0, or 1 if the file could not be written; stellar_message then returns the reason.
EXPORT int stellar_coverage_write(void* handle, const char* path) {
    try {
        at(handle).context.coveragep()->write(path);
        return 0;
    } catch (const std::exception& error) {
        at(handle).message = error.what();
        return 1;
    }
}
#endif
