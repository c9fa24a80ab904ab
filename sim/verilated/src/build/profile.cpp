
// Measures how much time each block of a gated model takes. blocks.inc, generated beside this file, contains the names of the blocks. The list is
// empty unless functions run on change.
static const char* const block_names[] = {
#include "blocks.inc"
    nullptr};

// While `on` is not 0, every evaluation adds the time of each block to its total.
EXPORT void stellar_profile(void* handle, int on) {
#if STELLAR_ON_CHANGE
    at(handle).top->rootp->stellar_profiled = on;
#else
    (void)handle, (void)on;
#endif
}

// Returns the number of blocks, and sets pointers to their names and times. The unit of the times is not specified.
EXPORT uint64_t stellar_blocks(void* handle, const char* const** names, const uint64_t** times) {
    *names = block_names;
#if STELLAR_ON_CHANGE
    *times = at(handle).top->rootp->stellar_ticks;
#else
    (void)handle;
    *times = nullptr;
#endif
    return sizeof block_names / sizeof *block_names - 1;
}
