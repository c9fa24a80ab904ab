/* What the parts of rdma_peer share. */
#ifndef PEER_H
#define PEER_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_IDS = 64, MOST_WORDS = 24, MOST_LINE = 4096, MOST_POSTED = 256 };

/* The device and what belongs to it as a whole. */
struct device {
    struct ibv_context *context;
    struct ibv_pd *pd;
    const char *name;
};

extern struct device device;

/* A command: its words, the first of which is its name. */
struct command {
    int count;
    char *words[MOST_WORDS];
};

/* port.c: the serial port. */
void open_port(void);
int read_line(char *line);               /* 0: the line is too long */
void read_bytes(void *into, size_t length);
void write_bytes(const void *from, size_t length);
void answer(const char *format, ...) __attribute__((format(printf, 1, 2)));
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2))); /* returns 0 */

/* words.c: the words of a command. Each returns 0 when it has refused the command. */
int number(const char *word, uint64_t *value);
int number32(const char *word, uint64_t *value);
int id(const char *word, unsigned *value);
int access_flags(const char *word, int *flags);
int named(const struct command *command, const char *name, uint64_t most, uint64_t *value);
const char *named_text(const struct command *command, const char *name);

/* device.c */
void open_device(const char *ipv4, const char *ipv6);
int do_hello(const struct command *command);
int do_counters(const struct command *command);

/* memory.c */
struct ibv_mr *region(unsigned id);
int inside(const struct ibv_mr *region, uint64_t offset, uint64_t length);
int do_mr(const struct command *command);
int do_mr_free(const struct command *command);
int do_put(const struct command *command);
int do_get(const struct command *command);

/* queue_pair.c */
struct queue_pair {
    struct ibv_cq *cq;
    struct ibv_qp *qp;
};
struct queue_pair *queue_pair(unsigned id);
int do_qp(const struct command *command);
int do_connect(const struct command *command);
int do_state(const struct command *command);
int do_destroy(const struct command *command);

/* work.c */
int do_post(const struct command *command);
int do_recv(const struct command *command);
int do_poll(const struct command *command);

#endif
