// Gives the parts of a gated model their clocks. gating.inc, generated beside this file, lists them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "Vmodel___024root.h"

// Verilator 5.006 finds out in each evaluation which clocks had an event, several times. Here it is known, so its function that runs the code
// behind events is called without that. Later versions name things differently, and evaluate as usual.
#if VERILATOR_VERSION_INTEGER < 5007000
#define STELLAR_KNOWN_EVENTS 1
void Vmodel___024root___eval_triggers__act(Vmodel___024root* root);
void Vmodel___024root___eval_nba(Vmodel___024root* root);
#endif

namespace {
// The inputs of a model that are clocks of its parts, toggled for an event.
class Events {
    std::vector<CData*> clocks_;
    bool any_ = false;
#if STELLAR_KNOWN_EVENTS
    // Where Verilator keeps the event of each clock; empty unless all of its events are events of these clocks.
    std::vector<size_t> places_;
    // The place of a clock that has no code behind it.
    static constexpr size_t NOWHERE = SIZE_MAX;

    void find_places(Vmodel___024root& root) {
        auto& triggered = root.__VactTriggered;
        std::vector<size_t> places(clocks_.size(), NOWHERE);
        std::vector<bool> known(triggered.size);
        for (size_t number = 0; number < clocks_.size(); number++) {
            *clocks_[number] ^= 1;
            Vmodel___024root___eval_triggers__act(&root);
            for (size_t i = 0; i < triggered.size; i++) {
                if (!triggered.at(i)) continue;
                if (known[i] || places[number] != NOWHERE) return;
                known[i] = true;
                places[number] = i;
            }
        }
        triggered.clear();
        if (std::count(known.begin(), known.end(), true) == std::ptrdiff_t(triggered.size)) places_ = places;
    }
#endif

public:
    // Adds a clock. Returns its number.
    size_t add(CData* clock) {
        clocks_.push_back(clock);
        return clocks_.size() - 1;
    }

    // Settles the model before any event.
    void settle(Vmodel& top) {
        top.eval();
#if STELLAR_KNOWN_EVENTS
        find_places(*top.rootp);
#endif
    }

    void happen(Vmodel& top, size_t number) {
#if STELLAR_KNOWN_EVENTS
        if (!places_.empty()) {
            if (places_[number] == NOWHERE) return;
            any_ = true;
            top.rootp->__VnbaTriggered.at(places_[number]) = true;
            return;
        }
#endif
        any_ = true;
        *clocks_[number] ^= 1;
    }

    // Runs what is behind the events that happened.
    void run(Vmodel& top) {
        if (!any_) return;
        any_ = false;
#if STELLAR_KNOWN_EVENTS
        if (!places_.empty()) {
            Vmodel___024root___eval_nba(top.rootp);
            top.rootp->__VnbaTriggered.clear();
            return;
        }
#endif
        top.eval();
    }
};

class Gating {
    struct Gate {
        CData* clock;
        const CData* active;
    };
    struct Input {
        const void* value;
        size_t size;
        CData* event;
    };
    const CData* clock_ = nullptr;
    bool was_high_ = false, settled_ = false;
    Events events_;
    // Of each gate, by the number of its clock.
    std::vector<const CData*> active_;
    std::vector<Input> inputs_;
    // The number of each input's event, and what the model has seen of the input.
    std::vector<size_t> numbers_;
    std::vector<std::vector<uint8_t>> seen_;

public:
    explicit Gating(Vmodel& model) {
        Vmodel* const top = &model;
#include "gating.inc"
        clock_ = clock;
        for (const Gate& gate : gate_table) {
            events_.add(gate.clock);
            active_.push_back(gate.active);
        }
        const CData* last = nullptr;
        for (const Input& input : input_table) {
            numbers_.push_back(input.event == last ? numbers_.back() : events_.add(input.event));
            last = input.event;
            inputs_.push_back(input);
            seen_.emplace_back(input.size);
        }
    }

    void eval(Vmodel& top) {
        if (!settled_) {
            settled_ = true;
            events_.settle(top);
        }
        size_t happened = SIZE_MAX;
        for (size_t i = 0; i < inputs_.size(); i++) {
            const Input& input = inputs_[i];
            if (std::memcmp(seen_[i].data(), input.value, input.size) == 0) continue;
            std::memcpy(seen_[i].data(), input.value, input.size);
            if (numbers_[i] != happened) events_.happen(top, numbers_[i]);
            happened = numbers_[i];
        }
        events_.run(top);
        const bool rises = *clock_ && !was_high_;
        was_high_ = *clock_;
        if (!rises) return;
        for (size_t i = 0; i < active_.size(); i++) {
            if (*active_[i]) events_.happen(top, i);
        }
        events_.run(top);
    }
};
}  // namespace
