// call_error.cpp -- rnnp_session_last_error: the words for a refused call.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/call_error.h"

#include "runtime/session.h"

const char *rnnp_session_last_error(const rnnp_session *session) {
  if (!rnnp::is_session(session)) return "session is NULL or not initialised";
  switch (session->call_error) {
#define RNNPACK_CALL_ERROR(name, status, words) \
  case rnnp::CallError::name:                   \
    return words;
    RNNPACK_CALL_ERRORS(RNNPACK_CALL_ERROR)
#undef RNNPACK_CALL_ERROR
  }
  return "";
}
