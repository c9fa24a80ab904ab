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
    // Whether gates want an edge: flags that lie one behind the other, for clocks from `number` on. Verilator lays out all of them so.
    struct Flags {
        const CData* first;
        size_t number, count;
    };
    std::vector<Flags> active_;
    std::vector<Input> inputs_;
    // The number of each input's event.
    std::vector<size_t> numbers_;
    // What the model has seen of the inputs, one behind the other.
    std::vector<uint8_t> seen_;

    // Of constant sizes, comparisons are instructions and not calls.
    static bool is_same(const uint8_t* seen, const void* value, size_t size) {
        switch (size) {
            case sizeof(CData): return std::memcmp(seen, value, sizeof(CData)) == 0;
            case sizeof(SData): return std::memcmp(seen, value, sizeof(SData)) == 0;
            case sizeof(IData): return std::memcmp(seen, value, sizeof(IData)) == 0;
            case sizeof(QData): return std::memcmp(seen, value, sizeof(QData)) == 0;
            default: return std::memcmp(seen, value, size) == 0;
        }
    }

    // Gives an edge to those of `flags` that want one.
    void rise(Vmodel& top, const Flags& flags) {
        uint64_t word;
        for (size_t i = 0; i < flags.count; i += sizeof word) {
            word = 0;
            std::memcpy(&word, flags.first + i, std::min(sizeof word, flags.count - i));
            if (word == 0) continue;
            for (size_t k = i; k < std::min(i + sizeof word, flags.count); k++) {
                if (flags.first[k]) events_.happen(top, flags.number + k);
            }
        }
    }

public:
    explicit Gating(Vmodel& model) {
        Vmodel* const top = &model;
#include "gating.inc"
        clock_ = clock;
        for (const Gate& gate : gate_table) {
            const size_t number = events_.add(gate.clock);
            if (!active_.empty() && active_.back().first + active_.back().count == gate.active) {
                active_.back().count++;
            } else {
                active_.push_back({gate.active, number, 1});
            }
        }
        const CData* last = nullptr;
        for (const Input& input : input_table) {
            numbers_.push_back(input.event == last ? numbers_.back() : events_.add(input.event));
            last = input.event;
            inputs_.push_back(input);
            seen_.resize(seen_.size() + input.size);
        }
    }

    void eval(Vmodel& top) {
        if (!settled_) {
            settled_ = true;
            events_.settle(top);
        }
        size_t happened = SIZE_MAX;
        uint8_t* seen = seen_.data();
        for (size_t i = 0; i < inputs_.size(); seen += inputs_[i].size, i++) {
            const Input& input = inputs_[i];
            if (is_same(seen, input.value, input.size)) continue;
            std::memcpy(seen, input.value, input.size);
            if (numbers_[i] != happened) events_.happen(top, numbers_[i]);
            happened = numbers_[i];
        }
        events_.run(top);
        const bool rises = *clock_ && !was_high_;
        was_high_ = *clock_;
        if (!rises) return;
        for (const Flags& flags : active_) rise(top, flags);
        events_.run(top);
    }
};
}  // namespace
