/*
 * Portmortem: record every port of a Prolog engine.
 *
 * Open a recording, make the predicates known, begin a stream for each thread or engine, and call
 * pm_call, pm_exit_det, ... at its ports. An event is in the file when the function returns,
 * whatever happens to the process then.
 *
 * Generated from src/capi.rs and src/inline.h; a test fails when it is not current.
 */

#ifndef PORTMORTEM_H
#define PORTMORTEM_H

#include <stdbool.h>
#include <stdint.h>

/**
 * The id of a name that could not be recorded, because the recording has ended.
 */
#define PM_NO_ID 4294967295

/**
 * A stream is an operating system thread of Prolog.
 */
#define PM_THREAD 0

/**
 * A stream is a coroutining engine.
 */
#define PM_ENGINE 1

/**
 * Backtracking into a box reports a redo for every re-entered box, outermost first.
 */
#define PM_EVERY_REDO 0

/**
 * Backtracking into a box reports a redo for the innermost re-entered box only.
 */
#define PM_INNERMOST_REDO 1

/**
 * There is no hash of arguments: some argument is a term with a variable in it.
 */
#define PM_NOT_GROUND 0

/**
 * There is no hash of arguments: there was more of them than is looked at.
 */
#define PM_TOO_LARGE 1

/**
 * A role, for `pm_predicate_with_roles`: boxes of the predicate are garbage collections between
 * two ports, a call and an exit as far apart as that took.
 */
#define PM_COLLECTION 1

/**
 * Boxes of the predicate are moves of the engine's stacks, in the same way.
 */
#define PM_STACK_SHIFT 2

/**
 * Boxes of the predicate are time between two ports in which the thread had no processor.
 */
#define PM_WAITING 4

/**
 * Boxes of the predicate are the part of that in which the thread could have run.
 */
#define PM_PREEMPTED 8

/**
 * Boxes of the predicate are the loading of a library on demand.
 */
#define PM_LOADING 16

/**
 * Boxes of the predicate are work of the recorder, and none of the program.
 */
#define PM_SET_UP 32

/**
 * Boxes of the predicate say that its caller begins to fill a table. They take no time.
 */
#define PM_TABLE_FILLING 64

/**
 * The predicate asks a goal for all solutions, and keeps what it needs of each.
 */
#define PM_COLLECTOR 128

/**
 * The predicate may wait for a mutex.
 */
#define PM_WAITS_FOR_MUTEX 256

/**
 * The predicate may wait for another thread: for a message, for its end.
 */
#define PM_WAITS_FOR_THREAD 512

/**
 * The predicate may wait for input.
 */
#define PM_WAITS_FOR_INPUT 1024

/**
 * The predicate waits until some time has passed.
 */
#define PM_WAITS_FOR_TIME 2048

/**
 * The predicate is a part of the engine itself: neither of the program nor of a library.
 */
#define PM_BUILT_IN 4096

/**
 * The predicate hands to the system what was written so far.
 */
#define PM_FLUSHES 8192

/**
 * The predicate writes to a stream.
 */
#define PM_WRITES 16384

/**
 * The predicate reads a whole file.
 */
#define PM_READS_FILE 32768

/**
 * The predicate makes a term of a text.
 */
#define PM_READS_TEXT 65536

/**
 * The predicate sorts a whole list.
 */
#define PM_SORTS 131072

/**
 * The predicate goes over a whole list.
 */
#define PM_WALKS 262144

/**
 * The predicate sorts a list, and calls a goal for each comparison.
 */
#define PM_SORTS_BY_GOAL 524288

/**
 * A recording.
 */
typedef struct pm_recorder pm_recorder;

/**
 * How to record. All zero is a good beginning.
 */
typedef struct {
  /**
   * The engine and its version, e.g. "SWI-Prolog 9.0.4"; may be null.
   */
  const char *engine;
  /**
   * The file never grows beyond this many bytes; 0 for no limit, else at least 65536.
   */
  uint64_t max_size;
  /**
   * At the limit, keep the most recent events instead of the first ones.
   */
  bool keep_last;
  /**
   * Replace a file that is already there, unless another recording still writes it.
   */
  bool overwrite;
  /**
   * Every exit is re-enterable (Debray's figures).
   */
  bool byrd;
  /**
   * Last calls have boxes of their own; there are no tail events.
   */
  bool no_tail;
} pm_options;

/**
 * A stream of events. Only the functions of this header use the fields.
 */
typedef struct {
  uint8_t *cursor;
  uint8_t *limit;
  uint8_t *payload;
  uint64_t last_tick;
  uint64_t events;
  uint8_t *cut_end;
} pm_stream;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * Begins a recording in a new file. Returns null on failure; `pm_error_message` says why.
 *
 * Requires:
 * `path` is a string; `options` is null or valid.
 */
pm_recorder *pm_open(const char *path, const pm_options *options);

/**
 * Why the last call of this thread that failed did so. Valid until the next one fails.
 */
const char *pm_error_message(void);

/**
 * Makes a predicate known and gives its id: 0, 1, ... in the order of the calls. `file` may be
 * null, `line` 0.
 *
 * Requires:
 * `recorder` is null or open; the other pointers are null or strings.
 */
uint32_t pm_predicate(const pm_recorder *recorder,
                      const char *module,
                      const char *name,
                      uint32_t arity,
                      const char *file,
                      uint32_t line);

/**
 * Makes a predicate known as `pm_predicate` does: `roles` is a sum of `PM_COLLECTION` and others.
 *
 * Requires:
 * `recorder` is null or open; the other pointers are null or strings.
 */
uint32_t pm_predicate_with_roles(const pm_recorder *recorder,
                                 const char *module,
                                 const char *name,
                                 uint32_t arity,
                                 const char *file,
                                 uint32_t line,
                                 uint32_t roles);

/**
 * Makes a goal of a clause known and gives its id, the same for the same goal: a call or a last call of
 * that id is one of the predicate `callee`, from there. `clause` counts the clauses of the predicate
 * `caller` from 1, `goal` the goals of that clause from 1, in the order in which they are written. `file` may be
 * null if it is that of the caller, `line` 0.
 *
 * Requires:
 * `recorder` is null or open; `file` is null or a string.
 */
uint32_t pm_site(const pm_recorder *recorder,
                 uint32_t callee,
                 uint32_t caller,
                 uint32_t clause,
                 uint32_t goal,
                 const char *file,
                 uint32_t line);

/**
 * Makes a clause known and gives its id for `pm_in_clause`, the same for the same clause: 0, 1,
 * ... `number` counts the clauses of the predicate from 1. `file` may be null if it is that of
 * the predicate, `line` 0.
 *
 * Requires:
 * `recorder` is null or open; `file` is null or a string.
 */
uint32_t pm_clause(const pm_recorder *recorder,
                   uint32_t predicate,
                   uint32_t number,
                   const char *file,
                   uint32_t line);

/**
 * Says that each call of a predicate is followed by `pm_arguments_hash` or `pm_arguments_unknown`.
 *
 * Requires:
 * `recorder` is null or open.
 */
void pm_keeps_arguments(const pm_recorder *recorder, uint32_t predicate);

/**
 * Makes a text known and gives its id, the same for the same text.
 *
 * Requires:
 * `recorder` is null or open; `text` is null or a string.
 */
uint32_t pm_text(const pm_recorder *recorder, const char *text);

/**
 * Makes a cost centre known and gives its id, the same for the same name: entering and leaving it
 * are the ports of a box of this id.
 *
 * Requires:
 * `recorder` is null or open; `name` is null or a string.
 */
uint32_t pm_cost_center(const pm_recorder *recorder, const char *name);

/**
 * Declares that every box of a predicate is in a cost centre.
 *
 * Requires:
 * `recorder` is null or open.
 */
void pm_in_cost_center(const pm_recorder *recorder, uint32_t predicate, uint32_t center);

/**
 * Adds something that the reader of a report should know.
 *
 * Requires:
 * `recorder` is null or open; `text` is null or a string.
 */
void pm_note(const pm_recorder *recorder, const char *text);

/**
 * Begins a stream. Only one thread at a time may use it. Null if `recorder` is.
 *
 * Requires:
 * `recorder` is null or open; `name` is null or a string.
 */
pm_stream *pm_stream_begin(const pm_recorder *recorder,
                           uint32_t kind,
                           const char *name,
                           uint32_t dialect);

/**
 * Ends a stream, which must not be used any more. This may happen after `pm_close`.
 *
 * Requires:
 * `stream` is null or was begun and not ended.
 */
void pm_stream_end(pm_stream *stream);

/**
 * The slow path of the functions below: not to be called by itself.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_stream_slow(pm_stream *stream, uint64_t now, uint32_t event, uint64_t argument);

/**
 * The predicate that was called last in the active box enters a clause, from `pm_clause`.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_in_clause(pm_stream *stream, uint32_t clause);

/**
 * An argument of the last call, from 1, is an integer. Comes before `pm_arguments_hash` or
 * `pm_arguments_unknown`.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_argument_integer(pm_stream *stream, uint8_t argument, int64_t value);

/**
 * An argument of the last call, from 1, is a proper list of that length. Comes before
 * `pm_arguments_hash` or `pm_arguments_unknown`.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_argument_list(pm_stream *stream, uint8_t argument, uint64_t length);

/**
 * What the last call was made with: each argument is ground or unbound, and this is a hash of all
 * of them, and of which are unbound and the same variable.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_arguments_hash(pm_stream *stream, uint64_t hash);

/**
 * The last call was made with something that has no hash: `PM_NOT_GROUND` or `PM_TOO_LARGE`.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it.
 */
void pm_arguments_unknown(pm_stream *stream, uint32_t why);

/**
 * A remark of the traced program, at this moment.
 *
 * Requires:
 * `stream` was begun and not ended, and no other thread uses it; `text` is null or a string.
 */
void pm_mark(pm_stream *stream, const char *text);

/**
 * The clock of events.
 */
uint64_t pm_ticks(void);

/**
 * Whether the limit or a full disk has cost events.
 *
 * Requires:
 * `recorder` is null or open.
 */
bool pm_is_full(const pm_recorder *recorder);

/**
 * Ends the recording: the process is about to exit with `status`. Returns 0, or -1 if the end could
 * not be written. The recorder must not be used any more; streams may, to no effect.
 *
 * Requires:
 * `recorder` is null or open.
 */
int32_t pm_close(pm_recorder *recorder, int32_t status);

/**
 * Ends the recording as `pm_close` does: the program goes on unrecorded.
 *
 * Requires:
 * `recorder` is null or open.
 */
int32_t pm_stop(pm_recorder *recorder);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/*
 * The functions below are called at every port of the traced program. Each reads the clock, stores a
 * few bytes into the mapped file and publishes their length; src/stream.rs is the same in Rust.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of events, as pm_stream_slow takes them. */
enum {
  PM_EVENT_CALL = 1,
  PM_EVENT_TAIL = 2,
  PM_EVENT_EXIT_DET = 3,
  PM_EVENT_EXIT_NONDET = 4,
  PM_EVENT_REDO = 5,
  PM_EVENT_FAIL = 6,
  PM_EVENT_CUT = 7,
  PM_EVENT_EXCEPTION = 9,
  PM_EVENT_PAUSE = 10,
  PM_EVENT_RESUME = 11,
  PM_EVENT_GAP = 12
};

/* A test may define a clock of its own before it includes this file. */
#ifndef PM_TICKS
#define PM_TICKS() pm_inline_ticks()
#endif

static inline uint64_t pm_inline_ticks(void) {
#if defined(__GNUC__) && defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__GNUC__) && defined(__aarch64__)
  uint64_t ticks;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return pm_ticks();
#endif
}

/* The fast path is written for compilers with GNU's builtins and little-endian machines. */
#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PM_FAST 1
#else
#define PM_FAST 0
#endif

/* Records an event whose code and argument fit three bytes: `rest`, of which `length` count. */
static inline void pm_inline_put(pm_stream *stream, uint32_t tag, uint32_t rest, uint32_t length,
                                 uint32_t event, uint64_t argument) {
  uint64_t now = PM_TICKS();
#if PM_FAST
  uint64_t delta = now - stream->last_tick;
  uint8_t *cursor = stream->cursor;
  /* Another thread may stop the stream by storing null here. */
  uint8_t *limit = __atomic_load_n(&stream->limit, __ATOMIC_RELAXED);
  if (__builtin_expect(delta < 4096 && cursor < limit, 1)) {
    uint64_t word = tag | delta << 3 | (uint64_t)rest << 16;
    uint8_t *payload = stream->payload;
    __builtin_memcpy(cursor, &word, sizeof word);
    cursor += 2 + length;
    stream->cursor = cursor;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    stream->last_tick = now;
    stream->events++;
    __atomic_store_n((uint32_t *)(void *)(payload - 64), (uint32_t)(cursor - payload),
                     __ATOMIC_RELEASE);
    return;
  }
#else
  (void)tag, (void)rest, (void)length;
#endif
  pm_stream_slow(stream, now, event, argument);
}

static inline void pm_inline_put_predicate(pm_stream *stream, uint32_t tag, uint32_t predicate) {
  if (predicate < 1u << 7)
    pm_inline_put(stream, tag, predicate, 1, tag, predicate);
  else if (predicate < 1u << 14)
    pm_inline_put(stream, tag, (predicate & 0x7f) | 0x80 | predicate >> 7 << 8, 2, tag, predicate);
  else if (predicate < 1u << 21)
    pm_inline_put(stream, tag,
                  (predicate & 0x7f) | 0x80 | ((predicate >> 7 & 0x7f) | 0x80) << 8 |
                      predicate >> 14 << 16,
                  3, tag, predicate);
  else
    pm_stream_slow(stream, PM_TICKS(), tag, predicate);
}

/* A new box of `predicate`, called by the active box. The id may be that of a site of the predicate. */
static inline void pm_call(pm_stream *stream, uint32_t predicate) {
  pm_inline_put_predicate(stream, PM_EVENT_CALL, predicate);
}

/* A last call whose caller's frame is gone: the active box departs into `predicate`, or the predicate of
 * the site with this id. */
static inline void pm_tail(pm_stream *stream, uint32_t predicate) {
  pm_inline_put_predicate(stream, PM_EVENT_TAIL, predicate);
}

/* The active box exits and leaves no choicepoint. */
static inline void pm_exit_det(pm_stream *stream) {
  pm_inline_put(stream, PM_EVENT_EXIT_DET, 0, 0, PM_EVENT_EXIT_DET, 0);
}

/* The active box exits and can be re-entered. */
static inline void pm_exit_nondet(pm_stream *stream) {
  pm_inline_put(stream, PM_EVENT_EXIT_NONDET, 0, 0, PM_EVENT_EXIT_NONDET, 0);
}

/* The newest re-enterable box is entered again. */
static inline void pm_redo(pm_stream *stream) {
  pm_inline_put(stream, PM_EVENT_REDO, 0, 0, PM_EVENT_REDO, 0);
}

/* The active box fails. */
static inline void pm_fail(pm_stream *stream) {
  pm_inline_put(stream, PM_EVENT_FAIL, 0, 0, PM_EVENT_FAIL, 0);
}

/* An exception leaves the active box. */
static inline void pm_exception(pm_stream *stream) {
  pm_inline_put(stream, 0, 1, 1, PM_EVENT_EXCEPTION, 0);
}

/* The newest re-enterable box lost its choicepoints. Cuts in a row become one event. */
static inline void pm_cut(pm_stream *stream) {
#if PM_FAST
  uint8_t *cursor = stream->cursor;
  if (cursor == stream->cut_end && cursor < __atomic_load_n(&stream->limit, __ATOMIC_RELAXED) &&
      cursor[-1] < 127) {
    cursor[-1]++;
    return;
  }
#endif
  pm_inline_put(stream, PM_EVENT_CUT, 1, 1, PM_EVENT_CUT, 1);
#if PM_FAST
  stream->cut_end = stream->cursor;
#endif
}

/* Recording is suspended: the time until pm_resume belongs to no box. */
static inline void pm_pause(pm_stream *stream) {
  pm_stream_slow(stream, PM_TICKS(), PM_EVENT_PAUSE, 0);
}

/* Recording goes on. */
static inline void pm_resume(pm_stream *stream) {
  pm_stream_slow(stream, PM_TICKS(), PM_EVENT_RESUME, 0);
}

/* The engine lost events of this stream, `lost` of them or 0 if that is unknown. */
static inline void pm_gap(pm_stream *stream, uint64_t lost) {
  pm_stream_slow(stream, PM_TICKS(), PM_EVENT_GAP, lost);
}

#ifdef __cplusplus
}
#endif

#endif /* PORTMORTEM_H */
