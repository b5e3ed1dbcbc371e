// The module torch._C._onnx without ONNX. Other bindings use its enums as default arguments, so they must exist before those are registered; the passes
// themselves are not part of this build and say so when called.
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/onnx/onnx.h>
#include <torch/csrc/utils/pybind.h>

namespace torch::jit {

Node* addNodeToBlock(Block*, Symbol, c10::ArrayRef<Value*>) {
  TORCH_CHECK(false, "this build of torch has no ONNX passes");
}

Value* addInputToBlock(Block*) {
  TORCH_CHECK(false, "this build of torch has no ONNX passes");
}

} // namespace torch::jit

namespace torch::onnx {
namespace {

// The numbers of onnx.TensorProto.DataType, in their order.
enum class TensorProtoDataType : int {};

constexpr const char* data_types[] = {
    "UNDEFINED", "FLOAT",  "UINT8",  "INT8",      "UINT16",     "INT16",    "INT32",        "INT64",      "STRING",         "BOOL",       "FLOAT16",
    "DOUBLE",    "UINT32", "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ"};

} // namespace

void initONNXBindings(PyObject* module) {
  auto onnx = py::reinterpret_borrow<py::module_>(module).def_submodule("_onnx");
  py::enum_<TensorProtoDataType> types(onnx, "TensorProtoDataType");
  int number = 0;
  for (const char* name : data_types) {
    types.value(name, static_cast<TensorProtoDataType>(number++));
  }
  py::enum_<OperatorExportTypes>(onnx, "OperatorExportTypes")
      .value("ONNX", OperatorExportTypes::ONNX)
      .value("ONNX_ATEN", OperatorExportTypes::ONNX_ATEN)
      .value("ONNX_ATEN_FALLBACK", OperatorExportTypes::ONNX_ATEN_FALLBACK)
      .value("ONNX_FALLTHROUGH", OperatorExportTypes::ONNX_FALLTHROUGH);
  py::enum_<TrainingMode>(onnx, "TrainingMode")
      .value("EVAL", TrainingMode::EVAL)
      .value("PRESERVE", TrainingMode::PRESERVE)
      .value("TRAINING", TrainingMode::TRAINING);
  onnx.attr("PRODUCER_VERSION") = "2.6.0";
}

} // namespace torch::onnx
