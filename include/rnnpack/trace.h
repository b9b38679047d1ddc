/* trace.h -- begin and end of every node of a session's calls, told to the program: where the time of a step goes, on devices too.
 * The library has no clock and no log: the program's functions read the one and write the other. A program that calls nothing of
 * this page links nothing for it, and a session without a trace runs as fast as before.
 *
 *   static void begin(void *ctx, const rnnp_trace_event *event) { ((uint32_t *)ctx)[event->node] -= cycles(); }
 *   static void end(void *ctx, const rnnp_trace_event *event) { ((uint32_t *)ctx)[event->node] += cycles(); }
 *   static rnnp_trace trace = { sizeof(rnnp_trace), cycles_of_nodes, begin, end };
 *   status = rnnp_session_set_trace(session, &trace);
 *
 * Node numbers, names and operators are those of `rnnpack inspect`; `rnnpack profile --trace out.json` writes a trace that Perfetto
 * and Chrome show.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RNNPACK_TRACE_H_
#define RNNPACK_TRACE_H_

#include "rnnpack/rnnpack.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A node's part of one chunk of steps: all of them go through it before the next node's turn. */
typedef struct rnnp_trace_event {
  uint32_t node;     /* in the blob's order */
  uint32_t thread;   /* of the executor; 0: the caller's */
  size_t first_step; /* of the call */
  uint32_t steps;
  uint32_t batch;    /* rows */
  const void *chunk; /* of the library's own tools */
} rnnp_trace_event;

/* Each thread calls both of them, at the same time as others, once per node and chunk; the event is gone when they return. No call
 * of the session from within. */
typedef struct rnnp_trace {
  uint32_t struct_bytes; /* set by the program */
  void *ctx;
  void (*begin)(void *ctx, const rnnp_trace_event *event);
  void (*end)(void *ctx, const rnnp_trace_event *event);
} rnnp_trace;

/* Of all calls from the next one on. *trace is not copied: it stays where it is, unchanged, until another takes its place. NULL: no
 * trace. RNNP_E_ARG: a function is missing. Not for sessions on a GPU. */
RNNP_NODISCARD RNNP_API rnnp_status rnnp_session_set_trace(rnnp_session *session, const rnnp_trace *trace);

#ifdef __cplusplus
}
#endif
#endif /* RNNPACK_TRACE_H_ */
