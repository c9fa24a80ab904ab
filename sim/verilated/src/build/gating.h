// Drives the clocks of a gated model's parts. gating.inc, generated beside this file, lists the parts.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "Vmodel___024root.h"

#if STELLAR_ON_CHANGE
// Runs the marked functions (on_change.h).
void Vmodel___024root___eval_nba(Vmodel___024root* root);
#endif

namespace {
class Gating {
    // The clock and the request of one part. `clock` is toggled to give the part an edge; `active` is high if the part needs one.
    struct Gate {
        CData* clock;
        const CData* active;
    };
    // An input that the logic sees through a register, the clock of that register, and the position of that clock in the list of these clocks.
    struct Input {
        const void* value;
        size_t size;
        CData* event;
        size_t number;
    };
    const CData* clock_ = nullptr;
    bool was_high_ = false, settled_ = false;
    std::vector<Gate> gates_;
    std::vector<Input> inputs_;
    // The last value of every input that the model has seen, in one contiguous array.
    std::vector<uint8_t> seen_;

    // The compiler replaces a comparison of a constant size by instructions, and calls a function for one of a variable size.
    static bool is_same(const uint8_t* seen, const void* value, size_t size) {
        switch (size) {
            case sizeof(CData): return std::memcmp(seen, value, sizeof(CData)) == 0;
            case sizeof(SData): return std::memcmp(seen, value, sizeof(SData)) == 0;
            case sizeof(IData): return std::memcmp(seen, value, sizeof(IData)) == 0;
            case sizeof(QData): return std::memcmp(seen, value, sizeof(QData)) == 0;
            default: return std::memcmp(seen, value, size) == 0;
        }
    }

    // Passes changed inputs on to the model.
    void look(Vmodel& top) {
        size_t last = SIZE_MAX;
        uint8_t* seen = seen_.data();
        for (const Input& input : inputs_) {
            if (!is_same(seen, input.value, input.size)) {
                std::memcpy(seen, input.value, input.size);
#if STELLAR_ON_CHANGE
                top.rootp->stellar_inputs |= uint64_t{1} << input.number;
#else
                if (input.number != last) *input.event ^= 1;
#endif
                last = input.number;
            }
            seen += input.size;
        }
        if (last != SIZE_MAX) run(top);
    }

    void rise(Vmodel& top) {
#if STELLAR_ON_CHANGE
        top.rootp->stellar_edge = true;
#else
        bool any = false;
        for (const Gate& gate : gates_) {
            *gate.clock ^= *gate.active;
            any |= *gate.active;
        }
        if (!any) return;
#endif
        run(top);
    }

    static void run(Vmodel& top) {
#if STELLAR_ON_CHANGE
        Vmodel___024root___eval_nba(top.rootp);
#else
        top.eval();
#endif
    }

public:
    explicit Gating(Vmodel& model) {
        Vmodel* const top = &model;
#include "gating.inc"
        clock_ = clock;
        for (const Gate& gate : gate_table) gates_.push_back(gate);
        for (const Input& input : input_table) {
            inputs_.push_back(input);
            seen_.resize(seen_.size() + input.size);
        }
    }

    void eval(Vmodel& top, bool driven) {
        if (!settled_) {
            settled_ = true;
            top.eval();
        }
        if (driven) look(top);
        const bool rises = *clock_ && !was_high_;
        was_high_ = *clock_;
        if (rises) rise(top);
    }
};
}  // namespace
