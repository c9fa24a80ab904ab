/* Work requests and completions. */
#include "peer.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int operation(const char *word, enum ibv_wr_opcode *opcode) {
    static const struct {
        const char *name;
        enum ibv_wr_opcode opcode;
    } all[] = {
        {"write", IBV_WR_RDMA_WRITE}, {"write_imm", IBV_WR_RDMA_WRITE_WITH_IMM},  {"send", IBV_WR_SEND},
        {"send_imm", IBV_WR_SEND_WITH_IMM}, {"read", IBV_WR_RDMA_READ},           {"fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD},
        {"cmp_swap", IBV_WR_ATOMIC_CMP_AND_SWP},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, word) == 0) {
            *opcode = all[i].opcode;
            return 1;
        }
    }
    return refuse("there is no operation '%s'", word);
}

static int is_atomic(enum ibv_wr_opcode opcode) {
    return opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
}

int do_post(const struct command *command) {
    unsigned at, memory;
    uint64_t wr_id, offset, length, address, rkey, immediate, count, stride;
    enum ibv_wr_opcode opcode = IBV_WR_RDMA_WRITE;
    char *const *words = command->words;
    struct queue_pair *pair;
    struct ibv_mr *source;
    if (!id(words[1], &at) || !operation(words[2], &opcode) || !number(words[3], &wr_id) || !id(words[4], &memory) ||
        !number(words[5], &offset) || !number(words[6], &length) || !number(words[7], &address) || !number32(words[8], &rkey) ||
        !number32(words[9], &immediate) || !number(words[10], &count) || !number(words[11], &stride) || !(pair = queue_pair(at)) ||
        !(source = region(memory)))
        return 0;
    if (count == 0 || count > MOST_POSTED)
        return refuse("1 to %d work requests are posted at once", MOST_POSTED);
    /* Each value may be as large as 64 bits allow, so each is checked before they are added. */
    if (!inside(source, offset, length) || (count > 1 && !inside(source, offset, stride)) || !inside(source, offset, (count - 1) * stride + length))
        return 0;
    struct ibv_send_wr requests[MOST_POSTED], *bad;
    struct ibv_sge pieces[MOST_POSTED];
    memset(requests, 0, count * sizeof *requests);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t remote = address + i * stride;
        pieces[i] = (struct ibv_sge){.addr = (uintptr_t)source->addr + offset + i * stride, .length = (uint32_t)length, .lkey = source->lkey};
        struct ibv_send_wr *request = &requests[i];
        request->wr_id = wr_id + i;
        request->next = i + 1 < count ? request + 1 : NULL;
        request->sg_list = &pieces[i];
        request->num_sge = length > 0;
        request->opcode = opcode;
        request->send_flags = IBV_SEND_SIGNALED;
        request->imm_data = htonl((uint32_t)(immediate + i));
        if (is_atomic(opcode)) {
            request->wr.atomic.remote_addr = remote;
            request->wr.atomic.rkey = (uint32_t)rkey;
            request->wr.atomic.compare_add = 1;
        } else {
            request->wr.rdma.remote_addr = remote;
            request->wr.rdma.rkey = (uint32_t)rkey;
        }
    }
    int error = ibv_post_send(pair->qp, requests, &bad);
    if (error)
        return refuse("ibv_post_send, after %td of %llu: %s", bad - requests, (unsigned long long)count, strerror(error));
    answer("ok");
    return 1;
}

int do_recv(const struct command *command) {
    unsigned at;
    uint64_t wr_id, count;
    struct queue_pair *pair;
    if (!id(command->words[1], &at) || !number(command->words[2], &wr_id) || !number(command->words[3], &count) || !(pair = queue_pair(at)))
        return 0;
    for (uint64_t i = 0; i < count; i++) {
        struct ibv_recv_wr request = {.wr_id = wr_id + i}, *bad;
        int error = ibv_post_recv(pair->qp, &request, &bad);
        if (error)
            return refuse("ibv_post_recv, after %llu: %s", (unsigned long long)i, strerror(error));
    }
    answer("ok");
    return 1;
}

/* Names of enum ibv_wc_status, IBV_WC_ left out. */
static const char *status_name(enum ibv_wc_status status) {
    static const char *const names[] = {
        "SUCCESS",         "LOC_LEN_ERR",       "LOC_QP_OP_ERR",      "LOC_EEC_OP_ERR", "LOC_PROT_ERR",      "WR_FLUSH_ERR",
        "MW_BIND_ERR",     "BAD_RESP_ERR",      "LOC_ACCESS_ERR",     "REM_INV_REQ_ERR", "REM_ACCESS_ERR",   "REM_OP_ERR",
        "RETRY_EXC_ERR",   "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR",   "REM_INV_RD_REQ_ERR", "REM_ABORT_ERR", "INV_EECN_ERR",
        "INV_EEC_STATE_ERR", "FATAL_ERR",       "RESP_TIMEOUT_ERR",   "GENERAL_ERR",
    };
    return (size_t)status < sizeof names / sizeof *names ? names[status] : "UNKNOWN";
}

/* Names of enum ibv_wc_opcode, IBV_WC_ left out. */
static const char *opcode_name(enum ibv_wc_opcode opcode) {
    switch (opcode) {
    case IBV_WC_SEND: return "SEND";
    case IBV_WC_RDMA_WRITE: return "RDMA_WRITE";
    case IBV_WC_RDMA_READ: return "RDMA_READ";
    case IBV_WC_COMP_SWAP: return "COMP_SWAP";
    case IBV_WC_FETCH_ADD: return "FETCH_ADD";
    case IBV_WC_RECV: return "RECV";
    case IBV_WC_RECV_RDMA_WITH_IMM: return "RECV_RDMA_WITH_IMM";
    default: return "UNKNOWN";
    }
}

static uint64_t milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

int do_poll(const struct command *command) {
    unsigned at;
    uint64_t most, patience;
    struct queue_pair *pair;
    if (!id(command->words[1], &at) || !number(command->words[2], &most) || !number32(command->words[3], &patience) || !(pair = queue_pair(at)))
        return 0;
    if (most > MOST_POSTED)
        return refuse("at most %d completions are polled at once", MOST_POSTED);
    struct ibv_wc found[MOST_POSTED];
    uint64_t count = 0, until = milliseconds() + patience;
    while (count < most) {
        int more = ibv_poll_cq(pair->cq, (int)(most - count), found + count);
        if (more < 0)
            return refuse("ibv_poll_cq: %m");
        count += (uint64_t)more;
        if (more == 0) {
            if (milliseconds() >= until)
                break;
            usleep(500);
        }
    }
    static char line[MOST_POSTED * 80];
    int length = snprintf(line, sizeof line, "ok count=%llu", (unsigned long long)count);
    for (uint64_t i = 0; i < count; i++) {
        const struct ibv_wc *wc = &found[i];
        length += snprintf(line + length, sizeof line - (size_t)length, " %llu:%s:%s:%u:", (unsigned long long)wc->wr_id, status_name(wc->status),
                           opcode_name(wc->opcode), wc->byte_len);
        if (wc->status == IBV_WC_SUCCESS && wc->wc_flags & IBV_WC_WITH_IMM)
            length += snprintf(line + length, sizeof line - (size_t)length, "%u", ntohl(wc->imm_data));
        else
            length += snprintf(line + length, sizeof line - (size_t)length, "-");
    }
    answer("%s", line);
    return 1;
}
