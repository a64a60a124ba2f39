//===- ImportStrings.cpp - Strings of a graph that is being imported ------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/common/Body.h"
#include "frontends/common/Module.h"
#include "frontends/onnx/Ops.h"
#include "frontends/onnx/control/Sequences.h"
#include "frontends/onnx/custom/Custom.h"
#include "frontends/onnx/file/Check.h"
#include "frontends/onnx/graph/CarrierTypes.h"
#include "frontends/onnx/graph/Graph.h"
#include "frontends/onnx/graph/Node.h"
#include "frontends/onnx/graph/ShapeOperands.h"
#include "frontends/onnx/graph/Sort.h"
#include "frontends/onnx/graph/Strings.h"
#include "frontends/onnx/graph/ValueInfo.h"
#include "frontends/onnx/microsoft/Microsoft.h"
#include "frontends/onnx/qnn/QuantizedPorts.h"
#include "frontends/onnx/schema/Schema.h"
#include "frontends/onnx/schema/Types.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::onnx;
using ::onnx::NodeProto;

Value GraphImporter::importStrings(const ::onnx::TensorProto &tensor,
                                   Location loc) {
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  int64_t count = tensor.string_data_size();
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }) ||
      product(shape) != count || tensor.data_location() != tensor.DEFAULT) {
    problems.reportLasting(ImportStatus::broken, loc)
        << "tensor '" << tensor.name() << "' of shape " << toString(shape)
        << " holds " << count << " strings";
    return {};
  }
  Elements places{
      RankedTensorType::get(shape, builder.getI64Type()), iota(count), {}};
  std::vector<std::string> texts(tensor.string_data().begin(),
                                 tensor.string_data().end());
  return makeStrings(builder, createConstant(makeAttribute(places), loc),
                     makeTexts(builder, texts));
}

bool GraphImporter::failsOnStrings(const NodeProto &node, Scope &scope,
                                   ArrayRef<Value> operands) {
  bool hasTexts =
      llvm::any_of(operands, [](Value operand) { return getTexts(operand); });
  if (!hasTexts || takesStrings(node.op_type()))
    return false;
  problems.report(ImportStatus::unsupported, getLoc(node, scope),
                  node.op_type())
      << node.op_type()
      << " computes with strings, of which nnc knows only indices in a list; "
         "export the model with integers in their place";
  return true;
}

void GraphImporter::noteTexts(StringRef name, ArrayRef<std::string> list) {
  texts[name] = list.vec();
}
