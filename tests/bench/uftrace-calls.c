/* As many calls as asked for, of 16 functions that call one another about ten deep: what bench-replay has
   uftrace record and report. */
#include <stdlib.h>

static unsigned long left;

#define FUNCTION(name, one, other)                         \
    __attribute__((noinline)) static void name(unsigned n) \
    {                                                      \
        if (left == 0)                                     \
            return;                                        \
        left--;                                            \
        if (n == 0)                                        \
            return;                                        \
        one(n - 1);                                        \
        other(n - 1);                                      \
    }

static void f01(unsigned n);
static void f05(unsigned n);
static void f09(unsigned n);
FUNCTION(f16, f01, f05)
FUNCTION(f15, f16, f09)
FUNCTION(f14, f15, f16)
FUNCTION(f13, f14, f15)
FUNCTION(f12, f13, f14)
FUNCTION(f11, f12, f13)
FUNCTION(f10, f11, f12)
FUNCTION(f09, f10, f11)
FUNCTION(f08, f09, f10)
FUNCTION(f07, f08, f09)
FUNCTION(f06, f07, f08)
FUNCTION(f05, f06, f07)
FUNCTION(f04, f05, f06)
FUNCTION(f03, f04, f05)
FUNCTION(f02, f03, f04)
FUNCTION(f01, f02, f03)

int main(int argc, char **argv)
{
    left = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    while (left > 0)
        f01(12);
    return 0;
}
