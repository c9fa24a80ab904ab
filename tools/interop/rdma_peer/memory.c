/* Memory regions. */
#include "peer.h"

#include <stdlib.h>
#include <string.h>

static struct ibv_mr *regions[MOST_IDS];

struct ibv_mr *region(unsigned id) {
    if (!regions[id])
        refuse("there is no memory region %u", id);
    return regions[id];
}

int inside(const struct ibv_mr *region, uint64_t offset, uint64_t length) {
    if (offset > region->length || length > region->length - offset)
        return refuse("%llu bytes at %llu do not lie in %zu bytes", (unsigned long long)length, (unsigned long long)offset, region->length);
    return 1;
}

int do_mr(const struct command *command) {
    unsigned at;
    uint64_t length;
    int flags;
    if (!id(command->words[1], &at) || !number(command->words[2], &length) || !access_flags(command->words[3], &flags))
        return 0;
    if (regions[at])
        return refuse("there is a memory region %u already", at);
    if (length == 0 || length > 1 << 28)
        return refuse("a memory region has 1 to %d bytes", 1 << 28);
    void *memory;
    if (posix_memalign(&memory, 4096, length) != 0)
        return refuse("no memory for %llu bytes", (unsigned long long)length);
    memset(memory, 0, length);
    struct ibv_mr *made = ibv_reg_mr(device.pd, memory, length, flags);
    if (!made) {
        refuse("ibv_reg_mr: %m");
        free(memory);
        return 0;
    }
    regions[at] = made;
    answer("ok address=%p lkey=%#x rkey=%#x", memory, made->lkey, made->rkey);
    return 1;
}

int do_mr_free(const struct command *command) {
    unsigned at;
    if (!id(command->words[1], &at) || !region(at))
        return 0;
    void *memory = regions[at]->addr;
    if (ibv_dereg_mr(regions[at]) != 0)
        return refuse("ibv_dereg_mr: %m");
    regions[at] = NULL;
    free(memory);
    answer("ok");
    return 1;
}

/* The address that a put or get refers to, or NULL. */
static char *place(const struct command *command, uint64_t *length) {
    unsigned at;
    uint64_t offset;
    /* The length is parsed first, because the data of a refused put must be skipped. */
    if (!number(command->words[3], length) || !id(command->words[1], &at) || !number(command->words[2], &offset) || !region(at))
        return NULL;
    return inside(regions[at], offset, *length) ? (char *)regions[at]->addr + offset : NULL;
}

int do_put(const struct command *command) {
    uint64_t length = 0;
    char *to = place(command, &length);
    if (!to) {
        /* The data follow all the same. */
        char byte;
        while (length-- > 0)
            read_bytes(&byte, 1);
        return 0;
    }
    read_bytes(to, length);
    answer("ok");
    return 1;
}

int do_get(const struct command *command) {
    uint64_t length = 0;
    char *from = place(command, &length);
    if (!from)
        return 0;
    answer("ok");
    write_bytes(from, length);
    return 1;
}
