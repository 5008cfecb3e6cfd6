/*
 * Plays another engine that runs toy.pl: `other_engine TRACE [bare]`. It says all that the C
 * interface takes: sites, clauses, arguments, cost centres and roles; `bare` leaves out the roles.
 */
#include "portmortem.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS 200
#define FLUSHES 5

static pm_recorder *recorder;
static pm_stream *stream;
static bool bare;

static uint32_t declared(const char *module, const char *name, uint32_t arity, uint32_t roles) {
  if (bare)
    return pm_predicate(recorder, module, name, arity, NULL, 0);
  return pm_predicate_with_roles(recorder, module, name, arity, NULL, 0, roles);
}

static uint32_t written(const char *name, uint32_t arity, uint32_t line) {
  return pm_predicate(recorder, "user", name, arity, "toy.pl", line);
}

static void work(uint64_t ns) {
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((uint64_t)(now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < ns);
}

/* The engine does something of its own between two ports. */
static void aside(uint32_t predicate, long idle_ns, uint64_t work_ns) {
  pm_call(stream, predicate);
  if (idle_ns)
    nanosleep(&(struct timespec){.tv_nsec = idle_ns}, NULL);
  work(work_ns);
  pm_exit_det(stream);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  bare = argc > 2 && !strcmp(argv[2], "bare");
  pm_options options = {.engine = "Toy 1"};
  recorder = pm_open(argv[1], &options);
  if (!recorder) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  uint32_t start = written("main", 0, 1);
  uint32_t round = written("round", 1, 4);
  uint32_t item = written("item", 1, 10);
  uint32_t value = written("value", 2, 12);
  uint32_t gather = declared("toy", "gather", 2, PM_COLLECTOR | PM_BUILT_IN);
  uint32_t gate = declared("toy", "gate", 1, PM_WAITS_FOR_MUTEX | PM_BUILT_IN);
  uint32_t flush = declared("toy", "flush", 0, PM_FLUSHES | PM_BUILT_IN);
  uint32_t sweep = declared("toy", "sweep", 0, PM_COLLECTION);
  uint32_t idle = declared("toy", "idle", 0, PM_WAITING);
  declared("toy", "ready", 0, PM_PREEMPTED);
  uint32_t gathers = pm_site(recorder, gather, start, 1, 1, NULL, 2);
  uint32_t items = pm_site(recorder, item, start, 1, 2, NULL, 2);
  uint32_t begins = pm_site(recorder, round, start, 1, 3, NULL, 3);
  uint32_t values = pm_site(recorder, value, round, 2, 1, NULL, 6);
  uint32_t gates = pm_site(recorder, gate, round, 2, 2, NULL, 7);
  uint32_t flushes = pm_site(recorder, flush, round, 2, 3, NULL, 8);
  uint32_t again = pm_site(recorder, round, round, 2, 4, NULL, 9);
  uint32_t main_1 = pm_clause(recorder, start, 1, NULL, 1);
  uint32_t round_1 = pm_clause(recorder, round, 1, NULL, 4);
  uint32_t round_2 = pm_clause(recorder, round, 2, NULL, 5);
  uint32_t item_1 = pm_clause(recorder, item, 1, NULL, 10);
  uint32_t item_2 = pm_clause(recorder, item, 2, NULL, 11);
  uint32_t value_1 = pm_clause(recorder, value, 1, NULL, 12);
  pm_keeps_arguments(recorder, value);
  uint32_t center = pm_cost_center(recorder, "values");
  pm_in_cost_center(recorder, value, center);
  stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);

  pm_call(stream, start);
  pm_in_clause(stream, main_1);
  pm_call(stream, gathers);
  pm_call(stream, items);
  pm_in_clause(stream, item_1);
  pm_exit_nondet(stream);
  pm_redo(stream);
  pm_in_clause(stream, item_2);
  pm_exit_det(stream);
  pm_exit_det(stream);
  pm_call(stream, begins);
  for (int i = 0; i < ROUNDS; i++) {
    pm_in_clause(stream, round_2);
    pm_call(stream, values);
    pm_argument_integer(stream, 1, 3);
    pm_arguments_hash(stream, i % 2);
    pm_in_clause(stream, value_1);
    work(20000);
    pm_exit_det(stream);
    pm_call(stream, gates);
    aside(idle, 50000, 0);
    pm_exit_det(stream);
    for (int j = 0; j < FLUSHES; j++) {
      pm_call(stream, flushes);
      work(2000);
      pm_exit_det(stream);
    }
    pm_tail(stream, again);
  }
  pm_in_clause(stream, round_1);
  aside(sweep, 0, 100000);
  pm_exit_det(stream);
  pm_exit_det(stream);
  pm_stream_end(stream);
  if (pm_close(recorder, 0)) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  return 0;
}
