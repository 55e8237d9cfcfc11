/* Makes the n-th call that writes under a folder fail: LD_PRELOAD, FAULT="kind:errno:n:folder". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* 0: go on, 1: fail with errno set, 2: write less than was asked for */
static int fault(const char *kind, const char *path)
{
    static int calls, read_settings, error, nth;
    static char wanted[32], folder[PATH_MAX];
    const char *settings = getenv("FAULT");
    if (!settings) return 0;
    if (!read_settings++) sscanf(settings, "%31[^:]:%d:%d:%4095s", wanted, &error, &nth, folder);
    if (strcmp(kind, wanted) || strncmp(path, folder, strlen(folder))) return 0;
    if (__atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) != nth) return 0;
    FILE *note = fopen(getenv("FAULT_NOTE"), "w");
    if (note) fclose(note);
    errno = error;
    return error ? 1 : 2;
}

static const char *path_of(int fd)
{
    static __thread char path[PATH_MAX];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = 0;
    return path;
}

ssize_t write(int fd, const void *data, size_t size)
{
    static ssize_t (*usual)(int, const void *, size_t);
    if (!usual) usual = dlsym(RTLD_NEXT, "write");
    int what = fault("write", path_of(fd));
    if (what == 1) return -1;
    return usual(fd, data, what == 2 && size > 1 ? size / 2 : size);
}

int fsync(int fd)
{
    static int (*usual)(int);
    if (!usual) usual = dlsym(RTLD_NEXT, "fsync");
    return fault("fsync", path_of(fd)) ? -1 : usual(fd);
}

int rename(const char *from, const char *to)
{
    static int (*usual)(const char *, const char *);
    if (!usual) usual = dlsym(RTLD_NEXT, "rename");
    return fault("rename", to) ? -1 : usual(from, to);
}

int close(int fd)
{
    static int (*usual)(int);
    if (!usual) usual = dlsym(RTLD_NEXT, "close");
    int what = fault("close", path_of(fd));
    int done = usual(fd);
    if (what) errno = atoi(strchr(getenv("FAULT"), ':') + 1);
    return what ? -1 : done;
}
