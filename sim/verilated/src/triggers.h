// Included before the code of a gated model, which asks in every evaluation which of hundreds of clocks have an event: bits of words instead
// of Verilator 5.006's array of bool, so that the compiler turns a condition of many clocks into few tests. Later versions have words.
#include "verilated.h"
#if VERILATOR_VERSION_INTEGER < 5007000
#include <array>
#include <cstddef>
#include <cstdint>

template <std::size_t T_size>
class StellarTriggers final {
    std::array<uint64_t, (T_size + 63) / 64> words_{};

    class Bit final {
        uint64_t& word_;
        const uint64_t mask_;

    public:
        Bit(uint64_t& word, uint64_t mask) : word_(word), mask_(mask) {}
        operator bool() const { return (word_ & mask_) != 0; }
        void operator=(bool value) { word_ = value ? word_ | mask_ : word_ & ~mask_; }
    };

public:
    static constexpr std::size_t size = T_size;

    void clear() { words_.fill(0); }
    Bit at(std::size_t index) { return {words_[index / 64], uint64_t{1} << (index % 64)}; }
    bool any() const {
        uint64_t all = 0;
        for (const uint64_t word : words_) all |= word;
        return all != 0;
    }
    // Calls `seen` with the number of each event.
    template <class T_seen>
    void each(T_seen seen) const {
        for (std::size_t i = 0; i < words_.size(); i++) {
            for (uint64_t left = words_[i]; left; left &= left - 1) seen(i * 64 + __builtin_ctzll(left));
        }
    }
    void set(const StellarTriggers& other) {
        for (std::size_t i = 0; i < words_.size(); i++) words_[i] |= other.words_[i];
    }
    void andNot(const StellarTriggers& a, const StellarTriggers& b) {
        for (std::size_t i = 0; i < words_.size(); i++) words_[i] = a.words_[i] & ~b.words_[i];
    }
};
#define VlTriggerVec StellarTriggers
#endif
