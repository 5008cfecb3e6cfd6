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
