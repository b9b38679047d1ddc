# SPDX-License-Identifier: Apache-2.0
# docs/OPERATORS.md holds the table that the tool prints, word for word.
execute_process(COMMAND ${TOOL} operators OUTPUT_VARIABLE table RESULT_VARIABLE code)
file(READ ${PAGE} page)
string(FIND "${page}" "${table}" at)
if(NOT code EQUAL 0 OR at EQUAL -1)
  message(FATAL_ERROR "docs/OPERATORS.md is out of date: put the output of `rnnpack operators` into it")
endif()
