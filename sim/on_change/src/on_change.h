// Support code for the rewritten functions of a gated model: a time stamp, and comparisons, copies and shifts of wide values.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

// This macro says that functions run when their inputs change. gating.h then only sets flags for edges and changed inputs.
#define STELLAR_ON_CHANGE 1

// A time stamp for profiles. Its unit is not specified, because a profile needs only shares.
static inline uint64_t stellar_now() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return std::chrono::steady_clock::now().time_since_epoch().count();
#endif
}

// Eight marks as one word. The first mark is the lowest byte.
static inline uint64_t stellar_group(const uint8_t* marks) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first mark is in the lowest byte");
    uint64_t group;
    std::memcpy(&group, marks, sizeof group);
    return group;
}

// Four marks as one word.
static inline uint32_t stellar_half(const uint8_t* marks) {
    uint32_t half;
    std::memcpy(&half, marks, sizeof half);
    return half;
}

// Returns its argument. g++ does not know that, so it reaches the marks around this one with distances of one byte.
static inline uint8_t* stellar_near(uint8_t* mark) {
    asm("" : "+r"(mark));
    return mark;
}

// Whether one of these marks is set. The hint moves what follows away from the test: the tests of all groups then lie in a row, and take a tenth of the code that
// runs in every cycle if no group has a mark.
static inline bool stellar_any(uint64_t marks) { return __builtin_expect(marks != 0, false); }

// Clears a mark. Returns whether it was set.
static inline bool stellar_take(uint8_t& mark) {
    if (mark == 0) return false;
    mark = 0;
    return true;
}

// Whether words differ, a vector at a time. Without the vectors, g++ compares word by word if the number of words is not a multiple of those in a vector.
template <std::size_t T_words>
static inline bool stellar_words_differ(const EData* a, const EData* b) {
#ifdef __AVX2__
    constexpr std::size_t VECTOR = 8;
#else
    constexpr std::size_t VECTOR = 4;
#endif
    typedef long long Vector __attribute__((vector_size(VECTOR * sizeof(EData))));
    constexpr std::size_t IN_VECTORS = T_words / VECTOR * VECTOR;
    Vector vectors = {};
    for (std::size_t i = 0; i < IN_VECTORS; i += VECTOR) {
        Vector of_a, of_b;
        std::memcpy(&of_a, a + i, sizeof of_a);
        std::memcpy(&of_b, b + i, sizeof of_b);
        vectors |= of_a ^ of_b;
    }
    EData rest = 0;
    for (std::size_t i = IN_VECTORS; i < T_words; ++i) rest |= a[i] ^ b[i];
    if (IN_VECTORS == 0) return rest != 0;
#ifdef __AVX2__
    return !__builtin_ia32_ptestz256(vectors, vectors) | (rest != 0);
#else
    return (vectors[0] | vectors[1] | rest) != 0;
#endif
}

// Whether a wide value has changed.
template <std::size_t T_words>
static inline bool stellar_differs(const VlWide<T_words>& before, const VlWide<T_words>& now) {
    return stellar_words_differ<T_words>(before.m_storage, now.m_storage);
}

// Replaces Verilator's macro, which clears word by word.
template <std::size_t T_words>
static inline void stellar_zero(EData* to) {
    std::memset(to, 0, T_words * sizeof(EData));
}

// Copies words.
template <std::size_t T_words>
static inline void stellar_copy(EData* to, const EData* from) {
    std::memcpy(to, from, T_words * sizeof(EData));
}

// Copies words. Returns whether the destination had another value before.
template <std::size_t T_words>
static inline bool stellar_copy_differs(EData* to, const EData* from) {
    const bool differ = stellar_words_differ<T_words>(to, from);
    stellar_copy<T_words>(to, from);
    return differ;
}

// Returns the low 32 bits of the 64-bit value {high, low} shifted right by `by`, which is at most 32.
static inline EData stellar_funnel(EData high, EData low, unsigned by) {
    return EData(((uint64_t{high} << VL_EDATASIZE) | low) >> by);
}

// Whether a shift of a value of this many words by `by` is a copy of bytes, which takes half the time. Beats are rotated by bytes, so it is the usual case for
// wide values. For narrow ones, the calls would take longer than the loop.
template <int T_words>
static inline bool stellar_by_bytes(IData by) {
    static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lowest byte of a value has the lowest address");
    return T_words >= 16 && by % 8 == 0;
}

// These functions replace Verilator's shifts of wide values. Verilator's test for each word whether it is the last one, even if the distance is
// constant.
template <int T_bits>
static inline void stellar_shift_left(EData* __restrict to, const EData* __restrict from, IData by) {
    constexpr int WORDS = VL_WORDS_I(T_bits);
    if (by >= IData(T_bits)) return stellar_zero<WORDS>(to);
    if (stellar_by_bytes<WORDS>(by)) {
        const std::size_t bytes = by / 8;
        std::memset(to, 0, bytes);
        std::memcpy(reinterpret_cast<char*>(to) + bytes, from, WORDS * sizeof(EData) - bytes);
    } else {
        const int words = VL_BITWORD_E(by);
        // A word of the result is the low word of two adjacent source words that are shifted right by this distance.
        const unsigned down = VL_EDATASIZE - VL_BITBIT_E(by);
        for (int i = 0; i < words; ++i) to[i] = 0;
        to[words] = from[0] << VL_BITBIT_E(by);
        for (int i = words + 1; i < WORDS; ++i) to[i] = stellar_funnel(from[i - words], from[i - words - 1], down);
    }
    to[WORDS - 1] &= VL_MASK_E(T_bits);
}

template <int T_bits>
static inline void stellar_shift_right(EData* __restrict to, const EData* __restrict from, IData by) {
    constexpr int WORDS = VL_WORDS_I(T_bits);
    if (by >= IData(T_bits)) return stellar_zero<WORDS>(to);
    if (stellar_by_bytes<WORDS>(by)) {
        const std::size_t bytes = by / 8, rest = WORDS * sizeof(EData) - bytes;
        std::memcpy(to, reinterpret_cast<const char*>(from) + bytes, rest);
        std::memset(reinterpret_cast<char*>(to) + rest, 0, bytes);
    } else {
        const int words = VL_BITWORD_E(by);
        const int last = WORDS - 1 - words;
        for (int i = 0; i < last; ++i) to[i] = stellar_funnel(from[i + words + 1], from[i + words], VL_BITBIT_E(by));
        to[last] = from[WORDS - 1] >> VL_BITBIT_E(by);
        for (int i = last + 1; i < WORDS; ++i) to[i] = 0;
    }
}

#define VL_ZERO_W(obits, to) stellar_zero<VL_WORDS_I(obits)>(to)
#define VL_SHIFTL_WWI(obits, lbits, rbits, to, from, by) stellar_shift_left<obits>(to, from, by)
#define VL_SHIFTR_WWI(obits, lbits, rbits, to, from, by) stellar_shift_right<obits>(to, from, by)
