/*
 * rdma_peer: executes libibverbs commands that a program sends over a serial port. It judges no result.
 *
 * A command is a line of words. The answer is one line, "ok NAME=VALUE..." or "error TEXT". Numbers are decimal, or hexadecimal after 0x.
 * The sender chooses IDs below 64. ACCESS is letters: l local write, w remote write, r remote read, a remote atomic; - for none.
 *
 *   hello                                  ok kernel= device= mac= mtu= gid4=INDEX:HEX gid6=INDEX:HEX
 *   mr ID LENGTH ACCESS                    ok address= lkey= rkey=        memory of zeros, registered
 *   mr_free ID
 *   put ID OFFSET LENGTH                   and LENGTH bytes: into memory
 *   get ID OFFSET LENGTH                   ok, and LENGTH bytes behind the line: out of memory
 *   qp ID SENDS RECEIVES                   ok qpn=          a queue pair of RC and a completion queue of its own
 *   connect ID qpn= psn= own_psn= mtu= gid=HEX index= timeout= retry= rnr= access=ACCESS min_rnr=      to INIT, RTR and RTS
 *   post ID OPERATION WR_ID MR OFFSET LENGTH ADDRESS RKEY IMMEDIATE COUNT STRIDE
 *                                          COUNT signaled work requests; WR_ID and IMMEDIATE grow by 1, OFFSET and ADDRESS by STRIDE;
 *                                          write, write_imm, send, send_imm, read, fetch_add, cmp_swap
 *   recv ID WR_ID COUNT                    COUNT receives without memory
 *   poll ID MOST MILLISECONDS              ok count= WR_ID:STATUS:OPCODE:BYTES:IMMEDIATE...     immediate - if there is none
 *   state ID                               ok state=
 *   destroy ID
 *   counters                               ok NAME=VALUE...  the device's hardware counters
 *   quit
 */
#include "peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int do_quit(const struct command *command) {
    (void)command;
    answer("ok");
    exit(0);
}

static const struct {
    const char *name;
    int words; /* with the name */
    int (*run)(const struct command *);
} commands[] = {
    {"hello", 1, do_hello},       {"mr", 4, do_mr},         {"mr_free", 2, do_mr_free}, {"put", 4, do_put},
    {"get", 4, do_get},           {"qp", 4, do_qp},         {"connect", 13, do_connect}, {"post", 12, do_post},
    {"recv", 4, do_recv},         {"poll", 4, do_poll},     {"state", 2, do_state},     {"destroy", 2, do_destroy},
    {"counters", 1, do_counters}, {"quit", 1, do_quit},
};

static void run(char *line) {
    struct command command = {0};
    for (char *rest = line, *word; (word = strtok_r(rest, " ", &rest));) {
        if (command.count == MOST_WORDS) {
            refuse("more than %d words", MOST_WORDS);
            return;
        }
        command.words[command.count++] = word;
    }
    if (command.count == 0) {
        refuse("an empty line");
        return;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(commands[i].name, command.words[0]) != 0)
            continue;
        if (commands[i].words != command.count)
            refuse("'%s' takes %d words, not %d", command.words[0], commands[i].words - 1, command.count - 1);
        else
            commands[i].run(&command);
        return;
    }
    refuse("there is no command '%s'", command.words[0]);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: rdma_peer IPV4 IPV6: the addresses of this end\n");
        return 2;
    }
    open_device(arguments[1], arguments[2]);
    open_port();
    for (;;) {
        char line[MOST_LINE];
        if (read_line(line))
            run(line);
        else
            refuse("a line of more than %d bytes", MOST_LINE - 1);
    }
}
