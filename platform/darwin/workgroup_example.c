/* workgroup_example.c -- the threads of an executor join the workgroup of an audio device (README.md).
 * The workgroup: kAudioDevicePropertyIOThreadOSWorkgroup of the device, or kAudioOutputUnitProperty_OSWorkgroup of an audio unit.
 * SPDX-License-Identifier: Apache-2.0 */
#include <os/workgroup.h>
#include <rnnpack/rnnpack.h>

typedef struct workgroup_task {
  os_workgroup_t group;
  os_workgroup_join_token_s *tokens; /* [executor->threads] */
  int failed[64];
} workgroup_task;

/* Thread 0 is the caller's: the system has joined a render thread itself. */
static void join_one(void *arg, uint32_t thread) {
  workgroup_task *task = (workgroup_task *)arg;
  if (thread != 0) task->failed[thread] = os_workgroup_join(task->group, &task->tokens[thread]);
}

static void leave_one(void *arg, uint32_t thread) {
  workgroup_task *task = (workgroup_task *)arg;
  if (thread != 0) os_workgroup_leave(task->group, &task->tokens[thread]);
}

/* 0, or the error of a thread that did not join (EINVAL: the workgroup is cancelled). */
int join_workgroup(const rnnp_executor *executor, os_workgroup_t group, os_workgroup_join_token_s *tokens);
int join_workgroup(const rnnp_executor *executor, os_workgroup_t group, os_workgroup_join_token_s *tokens) {
  workgroup_task task = {group, tokens, {0}};
  uint32_t i;
  if (executor->threads > 64) return -1;
  executor->parallel(executor->ctx, join_one, &task);
  for (i = 0; i < executor->threads; ++i) {
    if (task.failed[i] != 0) return task.failed[i];
  }
  return 0;
}

void leave_workgroup(const rnnp_executor *executor, os_workgroup_t group, os_workgroup_join_token_s *tokens);
void leave_workgroup(const rnnp_executor *executor, os_workgroup_t group, os_workgroup_join_token_s *tokens) {
  workgroup_task task = {group, tokens, {0}};
  executor->parallel(executor->ctx, leave_one, &task);
}
