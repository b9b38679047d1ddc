"""Keras models as TensorFlow Lite files, and what its interpreter makes of them.

SPDX-License-Identifier: Apache-2.0
"""
import tensorflow as tf


def tensorflow_lite(model, inputs, kind):
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    function = tf.function(lambda *args: model(args[0] if len(args) == 1 else list(args)))
    concrete = function.get_concrete_function(*(tf.TensorSpec(x.shape, x.dtype, name=f"x{i}") for i, x in enumerate(inputs)))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([convert_variables_to_constants_v2(concrete, lower_control_flow=False)])
    if kind != "tflite_f32":
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
    if kind == "tflite_f16":
        converter.target_spec.supported_types = [tf.float16]
    return converter.convert()


def interpreted(content, inputs):
    interpreter = tf.lite.Interpreter(model_content=content, experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    interpreter.allocate_tensors()
    for i, x in enumerate(inputs):
        place = next(d["index"] for d in interpreter.get_input_details() if d["name"].split(":")[0] == f"x{i}")
        interpreter.set_tensor(place, x)
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
