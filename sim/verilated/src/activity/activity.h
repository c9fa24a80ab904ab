// Whether a wide value is another one now.
#include <cstddef>

template <std::size_t T_words>
static inline bool stellar_differs(const VlWide<T_words>& before, const VlWide<T_words>& now) {
    EData different = 0;
    for (std::size_t i = 0; i < T_words; ++i) different |= before.m_storage[i] ^ now.m_storage[i];
    return different != 0;
}
