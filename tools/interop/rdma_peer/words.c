/* The words of a command. */
#include "peer.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int number(const char *word, uint64_t *value) {
    int hexadecimal = word[0] == '0' && word[1] == 'x';
    const char *digits = hexadecimal ? word + 2 : word;
    char *end;
    errno = 0;
    *value = strtoull(digits, &end, hexadecimal ? 16 : 10);
    /* strtoull would take signs, spaces and a second 0x, too. */
    if (errno != 0 || !isxdigit((unsigned char)*digits) || end == digits || *end != '\0' || strchr(digits, 'x')) {
        *value = 0;
        return refuse("'%s' is no number", word);
    }
    return 1;
}

int number32(const char *word, uint64_t *value) {
    if (!number(word, value))
        return 0;
    return *value <= UINT32_MAX ? 1 : refuse("'%s' has more than 32 bits", word);
}

int id(const char *word, unsigned *value) {
    uint64_t wide;
    if (!number(word, &wide))
        return 0;
    if (wide >= MOST_IDS)
        return refuse("'%s' is no ID; they are below %d", word, MOST_IDS);
    *value = (unsigned)wide;
    return 1;
}

int access_flags(const char *word, int *flags) {
    *flags = 0;
    for (; *word; word++) {
        switch (*word) {
        case '-': break;
        case 'l': *flags |= IBV_ACCESS_LOCAL_WRITE; break;
        case 'w': *flags |= IBV_ACCESS_REMOTE_WRITE; break;
        case 'r': *flags |= IBV_ACCESS_REMOTE_READ; break;
        case 'a': *flags |= IBV_ACCESS_REMOTE_ATOMIC; break;
        default: return refuse("there is no access '%c'; there are l, w, r, a", *word);
        }
    }
    return 1;
}

const char *named_text(const struct command *command, const char *name) {
    size_t length = strlen(name);
    for (int i = 1; i < command->count; i++) {
        const char *word = command->words[i];
        if (strncmp(word, name, length) == 0 && word[length] == '=')
            return word + length + 1;
    }
    refuse("'%s' needs %s=", command->words[0], name);
    return NULL;
}

int named(const struct command *command, const char *name, uint64_t most, uint64_t *value) {
    const char *text = named_text(command, name);
    if (!text || !number(text, value))
        return 0;
    if (*value > most)
        return refuse("%s=%s is more than %llu", name, text, (unsigned long long)most);
    return 1;
}
