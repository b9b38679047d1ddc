// model_options.cpp -- Contract: model_options.h. SPDX-License-Identifier: Apache-2.0
#include "compiler/options/model_options.h"

namespace rnnp::compiler {

OptionRows model_options(ModelOptions *options) {
  return {
      {"--from", &options->from,
       "TENSOR or TENSOR=1,batch,16: the part of the graph behind this tensor, which becomes an input of these sizes and names; "
       "may "
       "be repeated"},
      {"--to", &options->to, "TENSOR: the part of the graph before this tensor, which becomes an output; may be repeated"},
      {"--set", &options->set, "NAME=VALUE, NAME=1,2,3 or NAME=file.npy: the input becomes a constant; may be repeated"},
      {"--dim", &options->dims, "NAME=SIZE: the size of a named dynamic dimension; may be repeated"},
      {"--shape", &options->shapes,
       "INPUT=1,-1,576: the sizes of an input's dynamic dimensions, -1 for one left open; may be repeated"},
      {"--axes", &options->axes,
       "INPUT=batch,time,features: what an input's axes are, where the compiler decides otherwise; may be repeated"},
      {"--state", &options->states,
       "INPUT=OUTPUT: the library keeps the tensor from step to step, and the two are no input and output any more; may be "
       "repeated"},
      {"--quality", &options->quality,
       "of a file that holds several networks (Neural Amp Modeler's SlimmableContainer): from 0, the smallest, to 1, the best; "
       "left out: 1"},
  };
}

}  // namespace rnnp::compiler
