# SPDX-License-Identifier: Apache-2.0
"""Checks and runs ONNX files for tests: a line of JSON in, a line of JSON out.

Runs in an environment of its own, where onnx and onnxruntime are. A request names a model and a .npz file
of its inputs; the outputs go to another. Beside `checker`, an ONNX file is held to what devices can do.
"""

import json
import sys

import numpy as np
import onnx
import onnxruntime


# Inputs that have to be constants for TensorRT, by operator and place.
CONSTANT = {("TopK", 1), ("CumSum", 1), ("Squeeze", 1), ("Slice", 3), ("Conv", 1), ("ReduceSum", 1)}


def varying(graph):
    """Which of these are not."""
    fixed = {tensor.name for tensor in graph.initializer}
    fixed |= {name for node in graph.node if node.op_type == "Constant" for name in node.output}
    return sorted({f"{node.op_type} {place}" for node in graph.node for place, name in enumerate(node.input)
                   if (node.op_type, place) in CONSTANT and name not in fixed})


def element_types(model):
    """The types of all values, as far as they follow from the graph."""
    graph = onnx.shape_inference.infer_shapes(model, strict_mode=True).graph
    values = [*graph.input, *graph.output, *graph.value_info]
    return sorted({onnx.TensorProto.DataType.Name(value.type.tensor_type.elem_type) for value in values}
                  | {onnx.TensorProto.DataType.Name(tensor.data_type) for tensor in graph.initializer})


def describe(path):
    """What the file is and says about itself; an exception unless the checker accepts it."""
    onnx.checker.check_model(path, full_check=True)
    model = onnx.load(path)
    return {"varying": varying(model.graph), "types": element_types(model),
            "opset": model.opset_import[0].version,
            "ir_version": model.ir_version,
            "operators": sorted({node.op_type for node in model.graph.node}),
            "inputs": [value.name for value in model.graph.input],
            "outputs": [value.name for value in model.graph.output],
            "metadata": {entry.key: entry.value for entry in model.metadata_props}}


def run(request):
    """Runs the model on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
    with np.load(request["inputs"]) as arrays:
        inputs = {value.name: arrays[value.name] for value in session.get_inputs()}
    names = [value.name for value in session.get_outputs()]
    np.savez(request["outputs"], **dict(zip(names, session.run(names, inputs))))


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = describe(request["model"])
            run(request)
        except Exception as error:  # whatever the packages throw is what the test shows
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


main()
