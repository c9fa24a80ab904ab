/* Queue pairs of RC, each with a completion queue of its own. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

static struct queue_pair queue_pairs[MOST_IDS];

struct queue_pair *queue_pair(unsigned id) {
    if (queue_pairs[id].qp)
        return &queue_pairs[id];
    refuse("there is no queue pair %u", id);
    return NULL;
}

int do_qp(const struct command *command) {
    unsigned at;
    uint64_t sends, receives;
    if (!id(command->words[1], &at) || !number(command->words[2], &sends) || !number(command->words[3], &receives))
        return 0;
    if (queue_pairs[at].qp)
        return refuse("there is a queue pair %u already", at);
    if (sends > 4096 || receives > 4096)
        return refuse("a queue has at most 4096 entries");
    struct ibv_cq *cq = ibv_create_cq(device.context, (int)(sends + receives), NULL, NULL, 0);
    if (!cq)
        return refuse("ibv_create_cq: %m");
    struct ibv_qp_init_attr attributes = {
        .send_cq = cq,
        .recv_cq = cq,
        .qp_type = IBV_QPT_RC,
        .sq_sig_all = 1,
        .cap = {.max_send_wr = (uint32_t)sends, .max_recv_wr = (uint32_t)receives, .max_send_sge = 1, .max_recv_sge = 1},
    };
    struct ibv_qp *qp = ibv_create_qp(device.pd, &attributes);
    if (!qp) {
        refuse("ibv_create_qp: %m");
        ibv_destroy_cq(cq);
        return 0;
    }
    queue_pairs[at] = (struct queue_pair){.cq = cq, .qp = qp};
    answer("ok qpn=%u", qp->qp_num);
    return 1;
}

static int parse_gid(const char *text, union ibv_gid *gid) {
    if (strlen(text) != 32)
        return refuse("a GID has 32 hexadecimal digits, not '%s'", text);
    for (int i = 0; i < 16; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return refuse("a GID has 32 hexadecimal digits, not '%s'", text);
        gid->raw[i] = (uint8_t)byte;
    }
    return 1;
}

static int parse_mtu(uint64_t bytes, enum ibv_mtu *mtu) {
    switch (bytes) {
    case 256: *mtu = IBV_MTU_256; return 1;
    case 512: *mtu = IBV_MTU_512; return 1;
    case 1024: *mtu = IBV_MTU_1024; return 1;
    case 2048: *mtu = IBV_MTU_2048; return 1;
    case 4096: *mtu = IBV_MTU_4096; return 1;
    }
    return refuse("mtu=%llu is none of 256, 512, 1024, 2048, 4096", (unsigned long long)bytes);
}

static int modify(struct ibv_qp *qp, struct ibv_qp_attr *attributes, int mask, const char *state) {
    int error = ibv_modify_qp(qp, attributes, mask | IBV_QP_STATE);
    return error ? refuse("ibv_modify_qp to %s: %s", state, strerror(error)) : 1;
}

int do_connect(const struct command *command) {
    unsigned at;
    struct queue_pair *pair;
    if (!id(command->words[1], &at) || !(pair = queue_pair(at)))
        return 0;
    uint64_t qpn, psn, own_psn, bytes, index, timeout, retry, rnr, min_rnr;
    const char *gid_text, *access_text;
    if (!named(command, "qpn", 0xffffff, &qpn) || !named(command, "psn", 0xffffff, &psn) || !named(command, "own_psn", 0xffffff, &own_psn) ||
        !named(command, "mtu", 4096, &bytes) || !named(command, "index", 255, &index) || !named(command, "timeout", 31, &timeout) ||
        !named(command, "retry", 7, &retry) || !named(command, "rnr", 7, &rnr) || !named(command, "min_rnr", 31, &min_rnr) ||
        !(gid_text = named_text(command, "gid")) || !(access_text = named_text(command, "access")))
        return 0;
    union ibv_gid gid;
    enum ibv_mtu mtu;
    int flags;
    if (!parse_gid(gid_text, &gid) || !parse_mtu(bytes, &mtu) || !access_flags(access_text, &flags))
        return 0;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = (unsigned)flags};
    struct ibv_qp_attr rtr = {
        .qp_state = IBV_QPS_RTR,
        .path_mtu = mtu,
        .dest_qp_num = (uint32_t)qpn,
        .rq_psn = (uint32_t)psn,
        .max_dest_rd_atomic = 1,
        .min_rnr_timer = (uint8_t)min_rnr,
        .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = gid, .sgid_index = (uint8_t)index, .hop_limit = 64}},
    };
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS,
        .timeout = (uint8_t)timeout,
        .retry_cnt = (uint8_t)retry,
        .rnr_retry = (uint8_t)rnr,
        .sq_psn = (uint32_t)own_psn,
        .max_rd_atomic = 1,
    };
    if (!modify(pair->qp, &init, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, "INIT") ||
        !modify(pair->qp, &rtr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, "RTR") ||
        !modify(pair->qp, &rts, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC, "RTS"))
        return 0;
    answer("ok");
    return 1;
}

int do_state(const struct command *command) {
    static const char *const names[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};
    unsigned at;
    struct queue_pair *pair;
    if (!id(command->words[1], &at) || !(pair = queue_pair(at)))
        return 0;
    struct ibv_qp_attr attributes;
    struct ibv_qp_init_attr made;
    int error = ibv_query_qp(pair->qp, &attributes, IBV_QP_STATE, &made);
    if (error)
        return refuse("ibv_query_qp: %s", strerror(error));
    unsigned state = attributes.qp_state;
    answer("ok state=%s", state < sizeof names / sizeof *names ? names[state] : "?");
    return 1;
}

int do_destroy(const struct command *command) {
    unsigned at;
    struct queue_pair *pair;
    if (!id(command->words[1], &at) || !(pair = queue_pair(at)))
        return 0;
    int error = ibv_destroy_qp(pair->qp);
    if (error)
        return refuse("ibv_destroy_qp: %s", strerror(error));
    pair->qp = NULL;
    error = ibv_destroy_cq(pair->cq);
    if (error)
        return refuse("ibv_destroy_cq: %s", strerror(error));
    answer("ok");
    return 1;
}
