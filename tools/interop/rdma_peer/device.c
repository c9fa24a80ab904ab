/* The RDMA device: the only one of the guest. */
#include "peer.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

struct device device;

/* The guest's IPv4 and IPv6 addresses as GIDs, and their indices in the GID table. */
static union ibv_gid gids[2];
static int indices[2];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

/* Index of a RoCEv2 GID in the table, or -1. */
static int find_gid(const union ibv_gid *wanted) {
    struct ibv_gid_entry entry;
    for (uint32_t index = 0; index < 64; index++) {
        if (ibv_query_gid_ex(device.context, 1, index, &entry, 0) != 0)
            continue;
        if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && memcmp(&entry.gid, wanted, sizeof *wanted) == 0)
            return (int)index;
    }
    return -1;
}

static int is_active(void) {
    struct ibv_port_attr port;
    return ibv_query_port(device.context, 1, &port) == 0 && port.state == IBV_PORT_ACTIVE;
}

/* Waits until the port is active and both GIDs are in the table. The kernel needs a moment for both after the addresses are set. */
static void wait_until_ready(void) {
    for (int i = 0; i < 3000; i++) {
        indices[0] = find_gid(&gids[0]);
        indices[1] = find_gid(&gids[1]);
        if (is_active() && indices[0] >= 0 && indices[1] >= 0)
            return;
        usleep(10000);
    }
    fprintf(stderr, "rdma_peer: %s has no active port with GIDs %d and %d after 30 s\n", device.name, indices[0], indices[1]);
    exit(1);
}

void open_device(const char *ipv4, const char *ipv6) {
    /* The GID of an IPv4 address is the IPv4-mapped IPv6 address. */
    char mapped[64];
    snprintf(mapped, sizeof mapped, "::ffff:%s", ipv4);
    if (inet_pton(AF_INET6, mapped, &gids[0]) != 1 || inet_pton(AF_INET6, ipv6, &gids[1]) != 1) {
        fprintf(stderr, "rdma_peer: '%s' and '%s' are not an IPv4 and an IPv6 address\n", ipv4, ipv6);
        exit(2);
    }
    int count;
    struct ibv_device **all = ibv_get_device_list(&count);
    if (!all || count == 0) {
        fprintf(stderr, "rdma_peer: there is no RDMA device\n");
        exit(1);
    }
    device.name = ibv_get_device_name(all[0]);
    if (!(device.context = ibv_open_device(all[0])))
        fail("ibv_open_device");
    if (!(device.pd = ibv_alloc_pd(device.context)))
        fail("ibv_alloc_pd");
    wait_until_ready();
}

static void hex(const union ibv_gid *gid, char *text) {
    for (int i = 0; i < 16; i++)
        sprintf(text + 2 * i, "%02x", gid->raw[i]);
}

int do_hello(const struct command *command) {
    (void)command;
    struct utsname system;
    uname(&system);
    char mac[32] = "?";
    FILE *file = fopen("/sys/class/net/eth0/address", "r");
    if (file) {
        if (fscanf(file, "%31s", mac) != 1)
            strcpy(mac, "?");
        fclose(file);
    }
    struct ibv_port_attr port;
    int error = ibv_query_port(device.context, 1, &port);
    if (error)
        return refuse("ibv_query_port: %s", strerror(error));
    char text[2][33];
    hex(&gids[0], text[0]);
    hex(&gids[1], text[1]);
    answer("ok kernel=%s device=%s mac=%s mtu=%d gid4=%d:%s gid6=%d:%s", system.release, device.name, mac, 128 << port.active_mtu, indices[0],
           text[0], indices[1], text[1]);
    return 1;
}

int do_counters(const struct command *command) {
    (void)command;
    char path[512], text[8192] = "ok";
    snprintf(path, sizeof path, "/sys/class/infiniband/%s/ports/1/hw_counters", device.name);
    DIR *directory = opendir(path);
    if (!directory)
        return refuse("%s: %m", path);
    for (struct dirent *entry; (entry = readdir(directory));) {
        char place[1024];
        unsigned long long value;
        snprintf(place, sizeof place, "%s/%s", path, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(place, "r");
        if (!file)
            continue;
        size_t length = strlen(text);
        if (fscanf(file, "%llu", &value) == 1)
            snprintf(text + length, sizeof text - length, " %s=%llu", entry->d_name, value);
        fclose(file);
    }
    closedir(directory);
    answer("%s", text);
    return 1;
}
