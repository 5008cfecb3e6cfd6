/*
 * What an event costs over reading the clock: the recorder alone, called in a loop.
 * `bench TRACE` prints nanoseconds per event, the best of several rounds.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "portmortem.h"

enum { EVENTS = 8000000, ROUNDS = 7 };

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

static double best(void (*loop)(pm_stream *), pm_stream *stream) {
  double least = 1e9;
  for (int round = 0; round < ROUNDS; round++) {
    double start = seconds();
    loop(stream);
    double taken = seconds() - start;
    if (taken < least)
      least = taken;
  }
  return least * 1e9 / EVENTS;
}

static pm_recorder *recorder;

struct job {
  void (*loop)(pm_stream *);
  double ns;
};

static void *thread(void *argument) {
  struct job *job = argument;
  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "thread", PM_EVERY_REDO);
  job->ns = best(job->loop, stream);
  pm_stream_end(stream);
  return NULL;
}

/* The slower one of two threads that run the loop at the same time. */
static double of_two(void (*loop)(pm_stream *)) {
  struct job jobs[2] = {{loop, 0}, {loop, 0}};
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    if (pthread_create(&threads[i], NULL, thread, &jobs[i]))
      exit(1);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return jobs[0].ns > jobs[1].ns ? jobs[0].ns : jobs[1].ns;
}

static void report(const char *what, double ns, double clock) {
  printf("%-34s %6.2f ns/event, %6.2f over the clock\n", what, ns, ns - clock);
}

int main(int argc, char **argv) {
  pm_options options = {.engine = "bench", .overwrite = true};
  if (argc != 2)
    return 2;
  recorder = pm_open(argv[1], &options);
  if (!recorder) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  for (uint32_t i = 0; i < 1000; i++)
    pm_predicate(recorder, "user", "p", i, NULL, 0);
  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  double clock = best(clock_only, stream);
  printf("%-34s %6.2f ns\n", "reading the clock", clock);
  report("call, exit", best(calls_and_exits, stream), clock);
  report("call, tail, redo, exit, cut, fail", best(mixed_ports, stream), clock);
  double clock_of_two = of_two(clock_only);
  report("call, exit: slower of two threads", of_two(calls_and_exits), clock_of_two);
  pm_stream_end(stream);
  if (pm_close(recorder, 0)) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  options.max_size = 8 << 20;
  options.keep_last = true;
  recorder = pm_open(argv[1], &options);
  stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  report("call, exit: flight recorder", best(calls_and_exits, stream), clock);
  pm_stream_end(stream);
  pm_close(recorder, 0);
  options.keep_last = false;
  recorder = pm_open(argv[1], &options);
  stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  report("call, exit: full, counted only", best(calls_and_exits, stream), clock);
  pm_stream_end(stream);
  return pm_close(recorder, 0) ? 1 : 0;
}
