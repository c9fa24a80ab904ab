// Drives the clocks of a gated model's parts. gating.inc and inputs.inc, generated beside this file, list the parts and the inputs.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
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
    const CData* clock_ = nullptr;
    bool was_high_ = false, settled_ = false;
    std::vector<Gate> gates_;

#if STELLAR_ON_CHANGE
    // Passes changed inputs on to the model: a bit for each number in inputs.inc.
    void look(Vmodel& top, uint64_t changed) {
        top.rootp->stellar_inputs |= changed;
        run(top);
    }
#else
    // The last value of every input that the model has seen. inputs.inc names each input that the logic sees through a register, the clock of that
    // register, and the position of that clock in the list of these clocks.
    struct Seen {
#define INPUT(port, event, number) std::remove_reference<decltype(Vmodel::port)>::type port;
#include "inputs.inc"
#undef INPUT
    };
    Seen seen_{};

    // Takes over a value. Returns whether it has changed.
    template <typename T>
    static bool takes(T& seen, const T& value) {
        const bool differs = seen != value;
        seen = value;
        return differs;
    }
    template <size_t T_words>
    static bool takes(VlWide<T_words>& seen, const VlWide<T_words>& value) {
        EData difference = 0;
        for (size_t i = 0; i < T_words; ++i) difference |= seen.m_storage[i] ^ value.m_storage[i];
        if (difference) std::memcpy(seen.m_storage, value.m_storage, sizeof seen.m_storage);
        return difference != 0;
    }

    // Passes changed inputs on to the model.
    void look(Vmodel& top, uint64_t) {
        size_t last = SIZE_MAX;
#define INPUT(port, event, number)                 \
    if (takes(seen_.port, top.port)) {             \
        if (number != last) top.event ^= 1;        \
        last = number;                             \
    }
#include "inputs.inc"
#undef INPUT
        if (last != SIZE_MAX) run(top);
    }
#endif

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
    }

    void eval(Vmodel& top, uint64_t changed) {
        if (!settled_) {
            settled_ = true;
            top.eval();
        }
        if (changed != 0) look(top, changed);
        const bool rises = *clock_ && !was_high_;
        was_high_ = *clock_;
        if (rises) rise(top);
    }
};
}  // namespace
