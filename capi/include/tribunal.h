/* Tribunal's C interface: checks a trace of loads, stores, atomics and fences against a memory
 * consistency model while the trace is being recorded.
 *
 *     uint64_t session;
 *     if (tribunal_open("tso", 2, &session) < 0) ...
 *     tribunal_store(session, 0, 0x10, 1, now);
 *     if (tribunal_load(session, 1, 0x10, 0, now) == TRIBUNAL_VIOLATION)
 *         puts(tribunal_explanation(session));
 *     verdict = tribunal_finish(session);
 *     tribunal_close(session);
 *
 * Calls return the status of the trace (0 and up) or an error code (below 0); a call with an error
 * changes nothing. A session is a number: using a closed session, or any other number, is an error.
 * Sessions may be used from several threads; each session has its own lock, and the order of the
 * calls is the order of the trace.
 *
 * Report events in the order in which they happen, and a store no later than the loads that read it.
 * Give every store to an address a distinct value, larger than the one before: then a violation is
 * found if its events are at most 65,536 events apart. docs/live.md says which events are kept.
 */
#ifndef TRIBUNAL_H
#define TRIBUNAL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The status of the trace so far; after tribunal_finish, the verdict. */
#define TRIBUNAL_CONSISTENT 0 /* there is an order that explains every read */
#define TRIBUNAL_OPEN 1       /* some of the last events are not explained yet */
#define TRIBUNAL_UNDECIDED 2  /* neither consistency nor a violation is shown */
#define TRIBUNAL_VIOLATION 3  /* the events so far violate the model, whatever follows */

/* Error codes. */
#define TRIBUNAL_ERROR_SESSION -1  /* unknown session: never opened, or closed */
#define TRIBUNAL_ERROR_MODEL -2    /* unknown model */
#define TRIBUNAL_ERROR_ARGUMENT -3 /* a null pointer, a text that is not UTF-8, an impossible number */
#define TRIBUNAL_ERROR_THREAD -4   /* the thread was never declared */
#define TRIBUNAL_ERROR_VALUE -5    /* the value does not fit the declared width */
#define TRIBUNAL_ERROR_LATE -6     /* an initial value after the first access of its address */
#define TRIBUNAL_ERROR_FINISHED -7 /* the session is finished */
#define TRIBUNAL_ERROR_INTERNAL -8 /* a bug in Tribunal; the session cannot be used any more */

/* The accesses that a fence orders: one of these or their sum. */
#define TRIBUNAL_LOADS 1
#define TRIBUNAL_STORES 2

/* What is declared before the first event. A field that is 0 stands for its default. */
typedef struct tribunal_settings {
    uint32_t threads;      /* threads are 0, 1, ... up to this, at most 65536; has no default */
    uint32_t value_bits;   /* the width of values; default 64 */
    uint64_t memory;       /* the memory of the session in bytes; default 1 GiB */
    uint64_t milliseconds; /* the time limit for each check by the engines; default: no limit */
} tribunal_settings;

/* The version of the library, and a status in a sentence. */
const char *tribunal_version(void);
const char *tribunal_status_text(int32_t status);

/* Opens a session and writes its number, or 0 after an error. Models are sc, tso, pso, wmo, rmo,
 * coherence, cc, ccv, cm, ccm and wccm. */
int32_t tribunal_open(const char *model, uint32_t threads, uint64_t *session);
int32_t tribunal_open_with(const char *model, const tribunal_settings *settings, uint64_t *session);

/* Sets the initial value of an address, before its first access; the default is 0. */
int32_t tribunal_initial(uint64_t session, uint64_t address, uint64_t value);

/* Events. The simulation time is for explanations only. */
int32_t tribunal_load(uint64_t session, uint32_t thread, uint64_t address, uint64_t value, uint64_t time);
int32_t tribunal_store(uint64_t session, uint32_t thread, uint64_t address, uint64_t value, uint64_t time);
int32_t tribunal_atomic(uint64_t session, uint32_t thread, uint64_t address, uint64_t read, uint64_t written, uint64_t time);
int32_t tribunal_fence(uint64_t session, uint32_t thread, uint32_t before, uint32_t after, uint64_t time);

/* The status after a complete check of the events so far. Calls that report an event check only when
 * it is cheap; call this now and then, and when a test ends. */
int32_t tribunal_ask(uint64_t session);

/* Ends the trace and returns the verdict. Further calls return the same verdict. */
int32_t tribunal_finish(uint64_t session);

/* Closes a session and frees its memory. */
int32_t tribunal_close(uint64_t session);

/* The number of events reported so far; 0 if the session is unknown. */
uint64_t tribunal_events(uint64_t session);

/* The explanation of the status, and the last error of a call of the session. Each string is valid
 * until this thread calls one of the two functions again. */
const char *tribunal_explanation(uint64_t session);
const char *tribunal_last_error(uint64_t session);

#ifdef __cplusplus
}
#endif

#endif
