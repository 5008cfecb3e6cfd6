/*
 * Plays a Prolog engine through the C interface, with a clock of its own so that the trace is known
 * to the byte: `engine TRACE COUNT` records COUNT events of a small generator, a line per event as
 * `tick number argument` on standard output.
 */
#include <stdint.h>

static uint64_t script_clock = 1000000;
static uint64_t script_step(void);
#define PM_TICKS() script_step()

#include "portmortem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static uint64_t random_number(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* Mostly short steps, some long, now and then one backwards. */
static uint64_t script_step(void) {
  uint64_t kind = random_number() & 63;
  uint64_t step = random_number();
  if (kind == 0)
    return script_clock += step >> 24;
  if (kind == 1)
    return script_clock - (step & 0xffff);
  if (kind < 8)
    return script_clock += step & 0xffff;
  return script_clock += step & 0x1ff;
}

static uint32_t predicate(void) {
  uint64_t number = random_number();
  return (uint32_t)(number >> 8) >> (number & 31);
}

static int count_events(pm_stream *stream, long count) {
  for (long i = 0; i < count; i++) {
    uint32_t kind = (uint32_t)(random_number() % 16);
    uint32_t id = 0;
    switch (kind) {
    case 0: case 1: case 2: case 3:
      kind = PM_EVENT_CALL;
      pm_call(stream, id = predicate());
      break;
    case 4: case 5:
      kind = PM_EVENT_TAIL;
      pm_tail(stream, id = predicate());
      break;
    case 6: case 7:
      kind = PM_EVENT_EXIT_DET;
      pm_exit_det(stream);
      break;
    case 8: case 9:
      kind = PM_EVENT_EXIT_NONDET;
      pm_exit_nondet(stream);
      break;
    case 10:
      kind = PM_EVENT_REDO;
      pm_redo(stream);
      break;
    case 11:
      kind = PM_EVENT_FAIL;
      pm_fail(stream);
      break;
    case 12: case 13:
      kind = PM_EVENT_CUT;
      pm_cut(stream);
      break;
    case 14:
      kind = PM_EVENT_EXCEPTION;
      pm_exception(stream);
      break;
    default:
      kind = PM_EVENT_GAP;
      pm_gap(stream, id = predicate());
    }
    if (printf("%llu %u %u\n", (unsigned long long)script_clock, kind, id) < 0)
      return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  pm_options options = {.engine = "engine.c 1"};
  pm_recorder *recorder = pm_open(argv[1], &options);
  if (!recorder) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  /* A second recording of the same file is refused, and says why. */
  if (pm_open(argv[1], &options) || !strstr(pm_error_message(), "exists already"))
    return 3;
  if (pm_predicate(recorder, "user", "main", 0, "engine.c", 1) != 0 ||
      pm_predicate(recorder, "user", "nrev", 2, NULL, 0) != 1 || pm_text(recorder, "hello") != 0)
    return 4;
  const uint32_t site = pm_site(recorder, 1, 0, 1, 2, NULL, 3);
  if (site != 2 || pm_site(recorder, 1, 0, 1, 2, "other.c", 3) != 3 ||
      pm_site(recorder, 1, 0, 1, 2, NULL, 3) != site)
    return 7;
  const uint32_t clause = pm_clause(recorder, 1, 2, NULL, 7);
  if (clause != 0 || pm_clause(recorder, 1, 1, "other.c", 6) != 1 ||
      pm_clause(recorder, 1, 2, NULL, 7) != clause)
    return 8;
  pm_keeps_arguments(recorder, 1);
  /* What another function failed to give is accepted. */
  if (pm_predicate(NULL, "user", "p", 0, NULL, 0) != PM_NO_ID || pm_text(NULL, "") != PM_NO_ID ||
      pm_site(NULL, 0, 0, 1, 1, NULL, 0) != PM_NO_ID ||
      pm_clause(NULL, 0, 1, NULL, 0) != PM_NO_ID ||
      pm_stream_begin(NULL, PM_THREAD, "t", PM_EVERY_REDO) || pm_close(NULL, 0) || pm_is_full(NULL))
    return 5;
  pm_stream_end(NULL);

  pm_stream *stream = pm_stream_begin(recorder, PM_THREAD, "main", PM_EVERY_REDO);
  if (count_events(stream, atol(argv[2])))
    return 6;
  pm_stream_end(stream);

  pm_stream *other = pm_stream_begin(recorder, PM_ENGINE, "gen", PM_INNERMOST_REDO);
  pm_call(other, site);
  pm_argument_list(other, 1, 30);
  pm_argument_integer(other, 2, -5);
  pm_arguments_hash(other, UINT64_C(0xfedcba9876543210));
  pm_in_clause(other, clause);
  pm_arguments_unknown(other, PM_NOT_GROUND);
  pm_arguments_unknown(other, PM_TOO_LARGE);
  pm_pause(other);
  pm_resume(other);
  pm_mark(other, "hello");
  pm_note(recorder, "played by C");
  if (pm_close(recorder, 42)) {
    fprintf(stderr, "error: %s\n", pm_error_message());
    return 1;
  }
  /* To no effect, and no harm. */
  pm_call(other, 1);
  pm_cut(other);
  pm_stream_end(other);
  return 0;
}
