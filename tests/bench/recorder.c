/*
 * What an event costs over reading the clock: the recorder alone, called in a loop.
 * `make bench-recorder` prints nanoseconds per event, the best of several rounds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "portmortem.h"

/* A round is short, so that some are not interrupted, and still fills ten blocks. */
enum { EVENTS = 1000000, ROUNDS = 50 };

static _Thread_local volatile uint64_t sink;

static double seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The loop that the others are compared with: it reads the clock for each event and keeps it. */
static void clock_only(pm_stream *stream) {
  (void)stream;
  for (int i = 0; i < EVENTS; i++)
    sink = PM_TICKS();
}

static void calls_and_exits(pm_stream *stream) {
  for (int i = 0; i < EVENTS / 2; i++) {
    pm_call(stream, (uint32_t)i & 63);
    pm_exit_det(stream);
  }
}

/* Predicates above 127, so two bytes of predicate for half of the events. */
static void mixed_ports(pm_stream *stream) {
  for (int i = 0; i < EVENTS / 8; i++) {
    pm_call(stream, 100 + ((uint32_t)i & 255));
    pm_tail(stream, 300);
    pm_call(stream, 7);
    pm_exit_nondet(stream);
    pm_redo(stream);
    pm_exit_nondet(stream);
    pm_cut(stream);
    pm_fail(stream);
  }
}

static double time_of(void (*loop)(pm_stream *), pm_stream *stream) {
  double start = seconds();
  loop(stream);
  return (seconds() - start) * 1e9 / EVENTS;
}

/* Nanoseconds per event, of the loop and of reading the clock: each the best of its rounds, taken by
   turns, for the machine may have other things to do. */
struct cost {
  double loop, clock;
};

static struct cost measure(void (*loop)(pm_stream *), pm_stream *stream) {
  struct cost best = {1e9, 1e9};
  for (int round = 0; round < ROUNDS; round++) {
    double clock = time_of(clock_only, stream);
    double taken = time_of(loop, stream);
    best.clock = clock < best.clock ? clock : best.clock;
    best.loop = taken < best.loop ? taken : best.loop;
  }
  return best;
}

static void report(const char *what, struct cost cost) {
  printf("%-34s %6.2f ns/event, clock %6.2f: %6.2f over it\n", what, cost.loop, cost.clock,
         cost.loop - cost.clock);
}

static pm_recorder *recorder;

static void *thread(void *cost) {
  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "thread", PM_EVERY_REDO);
  *(struct cost *)cost = measure(calls_and_exits, stream);
  pm_stream_end(stream);
  return NULL;
}

static void two_threads(void) {
  struct cost costs[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, thread, &costs[i]))
      exit(1);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  report("call, exit: one of two threads", costs[0]);
  report("call, exit: the other", costs[1]);
}

/* Records calls and exits in a file of 8 MiB. */
static int limited(const char *path, bool keep_last, const char *what) {
  pm_options options = {
      .engine = "bench", .overwrite = true, .max_size = 8 << 20, .keep_last = keep_last};
  recorder = pm_open(path, &options);
  if (!recorder)
    return -1;
  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  report(what, measure(calls_and_exits, stream));
  pm_stream_end(stream);
  return pm_close(recorder, 0);
}

static int unlimited(const char *path) {
  pm_options options = {.engine = "bench", .overwrite = true};
  recorder = pm_open(path, &options);
  if (!recorder)
    return -1;
  for (uint32_t i = 0; i < 1000; i++)
    pm_predicate(recorder, "user", "p", i, NULL, 0);
  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  report("call, exit", measure(calls_and_exits, stream));
  report("call, tail, redo, exit, cut, fail", measure(mixed_ports, stream));
  pm_stream_end(stream);
  two_threads();
  return pm_close(recorder, 0);
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  if (unlimited(argv[1]) || limited(argv[1], true, "call, exit: flight recorder") ||
      limited(argv[1], false, "call, exit: full, counted only")) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  return 0;
}
