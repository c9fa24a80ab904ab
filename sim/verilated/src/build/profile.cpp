
// Where the time of a gated model goes. blocks.inc, generated beside this file, names the blocks: none if functions run otherwise than marked.
static const char* const block_names[] = {
#include "blocks.inc"
    nullptr};

// While `on`, evaluations add up what the blocks take.
EXPORT void stellar_profile(void* handle, int on) {
#if STELLAR_ON_CHANGE
    at(handle).top->rootp->stellar_profiled = on;
#else
    (void)handle, (void)on;
#endif
}

// Names and times of the blocks, the times in a unit of their own. Returns how many there are.
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
