// The CRC-32 of Ethernet for the text of `Crc32Wide` in gated models (hdl/primitives/src/sim/crc32.rs). A processor computes the CRC of a beat with a few carry-less multiplications, or with tables.
//
// The register holds a polynomial of x, modulo that of IEEE 802.3, as software has it: bit 31 is the coefficient of x^0. The first bit of a beat has the highest power.
#include <array>
#if defined(__PCLMUL__)
#include <wmmintrin.h>
#endif

namespace stellar_crc {

constexpr uint32_t POLYNOMIAL = 0xEDB88320;

// The product with x.
constexpr uint32_t step(uint32_t of) { return (of >> 1) ^ ((of & 1) ? POLYNOMIAL : 0); }

// The quotient by x.
constexpr uint32_t step_back(uint32_t of) { return ((of ^ (of >> 31 ? POLYNOMIAL : 0)) << 1) | of >> 31; }

// x^exponent.
constexpr uint32_t power(unsigned exponent) {
    uint32_t of = 0x80000000;
    for (unsigned i = 0; i < exponent; ++i) of = step(of);
    return of;
}

// x^(-8 n - 1) for each number n of bytes that may be missing in a beat.
struct Missing {
    uint32_t factors[128];
    constexpr Missing() : factors() {
        uint32_t of = step_back(power(0));
        for (uint32_t& factor : factors) {
            factor = of;
            for (int i = 0; i < 8; ++i) of = step_back(of);
        }
    }
};
constexpr Missing MISSING;

#if defined(__PCLMUL__)

// A carry-less product of two polynomials of 64 bits, the highest of which is the coefficient of x^0, has that at bit 126. So a product with x^exponent takes x^(exponent - 1).
constexpr uint64_t factor(unsigned exponent) { return uint64_t{power(exponent - 1)} << 32; }

static inline uint64_t low(__m128i of) { return uint64_t(_mm_cvtsi128_si64(of)); }
static inline uint64_t high(__m128i of) { return low(_mm_unpackhi_epi64(of, of)); }

static inline __m128i product(uint64_t a, uint64_t b) {
    return _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(a)), _mm_cvtsi64_si128(int64_t(b)), 0);
}

// The remainder of 64 bits (Barrett's reduction): the quotient is the product of the upper half with x^64 / P.
static inline uint32_t remainder(uint64_t of) {
    constexpr uint64_t INVERSE = 0x1F7011641, DIVISOR = (uint64_t{POLYNOMIAL} << 1) | 1;
    const uint64_t quotient = uint32_t(low(product(uint32_t(of), INVERSE)));
    return uint32_t((of ^ low(product(quotient, DIVISOR))) >> 32);
}

// The register after the bits of `last`, if they are all.
static inline uint32_t reduce(__m128i last) {
    const __m128i upper = product(low(last), factor(96));
    const uint64_t middle = low(upper) ^ (high(last) << 32);
    const uint64_t lower = high(upper) ^ (high(last) >> 32);
    return remainder(lower ^ high(product(middle, factor(64))));
}

// The register after the 128-bit groups of a beat, if it is zero before.
template <std::size_t T_words>
static inline uint32_t of_groups(const EData* words) {
    static_assert(T_words % 4 == 0, "a beat has whole groups");
    const __m128i* const groups = reinterpret_cast<const __m128i*>(words);
    const __m128i factors = _mm_set_epi64x(int64_t(factor(128)), int64_t(factor(192)));
    __m128i all = _mm_loadu_si128(groups);
    for (std::size_t i = 1; i < T_words / 4; ++i) {
        const __m128i moved = _mm_clmulepi64_si128(all, factors, 0x00) ^ _mm_clmulepi64_si128(all, factors, 0x11);
        all = moved ^ _mm_loadu_si128(groups + i);
    }
    return reduce(all);
}

static inline uint32_t of_word(uint64_t word) { return reduce(_mm_set_epi64x(int64_t(word), 0)); }

// The product of the register with x^(exponent + 1), for x^exponent.
static inline uint32_t times_next(uint32_t from, uint32_t power) {
    return remainder(high(product(uint64_t{from} << 32, uint64_t{power} << 32)));
}

// The product of the register with x^T_exponent.
template <unsigned T_exponent>
static inline uint32_t leap(uint32_t from) {
    constexpr uint32_t FACTOR = power(T_exponent - 1);
    return times_next(from, FACTOR);
}

#else

typedef std::array<std::array<uint32_t, 256>, 4> Tables;

// The products of the bytes of a register with x^32.
static inline Tables tables() {
    Tables all;
    for (unsigned k = 0; k < 4; ++k) {
        for (uint32_t entry = 0; entry < 256; ++entry) {
            uint32_t of = entry << (8 * k);
            for (unsigned i = 0; i < 32; ++i) of = step(of);
            all[k][entry] = of;
        }
    }
    return all;
}

// The product with x^32.
static inline uint32_t step_word(uint32_t of) {
    static const Tables TABLES = tables();
    return TABLES[0][of & 0xFF] ^ TABLES[1][of >> 8 & 0xFF] ^ TABLES[2][of >> 16 & 0xFF] ^ TABLES[3][of >> 24];
}

template <std::size_t T_words>
static inline uint32_t of_groups(const EData* words) {
    uint32_t all = 0;
    for (std::size_t i = 0; i < T_words; ++i) all = step_word(all ^ words[i]);
    return all;
}

static inline uint32_t of_word(uint64_t word) { return step_word(step_word(uint32_t(word)) ^ uint32_t(word >> 32)); }

template <unsigned T_exponent>
static inline uint32_t leap(uint32_t from) {
    static_assert(T_exponent % 32 == 0, "a beat has whole words");
    for (unsigned i = 0; i < T_exponent / 32; ++i) from = step_word(from);
    return from;
}

// The product of the register with x^(exponent + 1), for x^exponent.
static inline uint32_t times_next(uint32_t from, uint32_t power) {
    uint32_t all = 0;
    for (; from != 0; from <<= 1) {
        power = step(power);
        if (from >> 31) all ^= power;
    }
    return all;
}

#endif

}  // namespace stellar_crc

// The register after a beat, if it is zero before.
template <std::size_t T_words>
static inline IData stellar_crc_of(const VlWide<T_words>& beat) {
    return stellar_crc::of_groups<T_words>(beat.m_storage);
}
static inline IData stellar_crc_of(QData beat) { return stellar_crc::of_word(beat); }

// The register after a beat of T_bits zeros.
template <unsigned T_bits>
static inline IData stellar_crc_leap(IData from) {
    return stellar_crc::leap<T_bits>(from);
}

// The register before a number of zero bytes, of which it is the register behind.
static inline IData stellar_crc_without(IData from, IData bytes) {
    return stellar_crc::times_next(from, stellar_crc::MISSING.factors[bytes]);
}
