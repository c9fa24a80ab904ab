/* The serial port: the only port of a virtio serial device. */
#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char PORTS[] = "/dev/vport*";
static int port;

static void fail(void) {
    perror(PORTS);
    exit(1);
}

void open_port(void) {
    glob_t found;
    /* The kernel creates the port a moment after it has loaded the driver. */
    for (int i = 0; glob(PORTS, 0, NULL, &found) != 0; i++) {
        if (i == 1000) {
            fprintf(stderr, "rdma_peer: there is no port like %s after 10 s\n", PORTS);
            exit(1);
        }
        usleep(10000);
    }
    port = open(found.gl_pathv[0], O_RDWR);
    if (port < 0)
        fail();
    globfree(&found);
}

/* Reads at least one byte. While no program is connected to the port, a read returns 0; then this function retries. */
static size_t read_some(void *into, size_t length) {
    for (;;) {
        ssize_t got = read(port, into, length);
        if (got > 0)
            return (size_t)got;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            fail();
        usleep(10000);
    }
}

/* Bytes that were read and not consumed yet. */
static char buffer[1 << 16];
static size_t from, to;

void read_bytes(void *into, size_t length) {
    char *at = into;
    while (length > 0) {
        if (from == to) {
            from = 0;
            to = read_some(buffer, sizeof buffer);
        }
        size_t part = to - from < length ? to - from : length;
        memcpy(at, buffer + from, part);
        from += part;
        at += part;
        length -= part;
    }
}

int read_line(char *line) {
    for (size_t length = 0;; length++) {
        char byte;
        read_bytes(&byte, 1);
        if (length < MOST_LINE)
            line[length] = byte == '\n' ? '\0' : byte;
        if (byte == '\n')
            return length < MOST_LINE;
    }
}

void write_bytes(const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        ssize_t put = write(port, at, length);
        if (put < 0) {
            if (errno != EINTR && errno != EAGAIN)
                fail();
            continue;
        }
        at += put;
        length -= (size_t)put;
    }
}

static void write_line(const char *format, va_list values) {
    char *line;
    int length = vasprintf(&line, format, values);
    if (length < 0)
        abort();
    write_bytes(line, (size_t)length);
    write_bytes("\n", 1);
    free(line);
}

void answer(const char *format, ...) {
    va_list values;
    va_start(values, format);
    write_line(format, values);
    va_end(values);
}

int refuse(const char *format, ...) {
    va_list values;
    write_bytes("error ", 6);
    va_start(values, format);
    write_line(format, values);
    va_end(values);
    return 0;
}
