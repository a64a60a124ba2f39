//===- Outputs.cpp - Outputs in their stored types ------------------------===//
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

/// Returns true if `value` is an input of the network, or if its carrier
/// (CarrierTypes.h) is an input or the cast of one.
static bool isInput(Value value) {
  value = getCarrier(value);
  if (auto cast = value.getDefiningOp<nn::CastOp>())
    value = cast.getX();
  return isa<BlockArgument>(value);
}

/// Returns `value` in the type in which an output stores it.
Value GraphImporter::store(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  value = getCarrier(value);
  Type stored = getStoredType(type.getElementType());
  if (getElementTypeOrSelf(value) == stored)
    return value;
  return builder.create<nn::CastOp>(value.getLoc(), type.clone(stored), value);
}

/// Returns an input, which the model declares with elements of type `element`,
/// in the type in which nodes read it.
Value GraphImporter::load(Value argument, Type element) {
  if (!element || !hasCarrier(element))
    return argument;
  auto type = cast<RankedTensorType>(argument.getType());
  Type carrier = getCarrier(element);
  if (type.getElementType() != carrier)
    argument = builder.create<nn::CastOp>(argument.getLoc(),
                                          type.clone(carrier), argument);
  return castFromCarrier(builder, argument, element);
}

void GraphImporter::addResults() {
  SmallVector<Value> results;
  SmallVector<StringRef> names;
  for (const auto &output : model.graph().output()) {
    Value value = lookup(output.name(), main).value_or(Value());
    if (!value) {
      if (problems.none())
        problems.report(ImportStatus::fault)
            << "has the output '" << output.name()
            << "', which nnc could not import, without saying why; please "
               "report this";
      return;
    }
    if (!isTensor(value)) {
      problems.report(ImportStatus::unsupported)
          << "has the output '" << output.name()
          << "', a sequence or an optional; nnc's outputs are tensors: make "
             "its "
             "elements outputs";
      return;
    }
    // The types of values that nodes compute have been checked.
    if (isInput(value))
      checkDeclared(output.name(), value, "the input",
                    problems.getLoc(output.name()), main);
    if (ArrayAttr list = getTexts(value)) {
      for (Attribute text : list)
        texts[output.name()].push_back(cast<StringAttr>(text).str());
      emitWarning(problems.getLoc(output.name()))
          << "is an output of strings; the module gives their indices in a "
             "list that is in the metadata";
    }
    if (auto found = texts.find(output.name()); found != texts.end())
      outputTexts.emplace_back("labels_" + output.name(),
                               llvm::join(found->second, "\n"));
    // Constants whose shape is computed from data-dependent sizes.
    if (uint64_t sources = findSources(output.name(), main);
        sources && value.getDefiningOp<nn::ConstantOp>()) {
      LayerBuilder layer(builder, problems, value.getLoc(), "an output");
      Value number = computeNumber(layer, output.name(), main);
      value = number ? number : linkLengths(value, sources, value.getLoc());
    }
    results.push_back(store(value));
    names.push_back(output.name());
  }
  SmallVector<std::string> countNames;
  for (const FoundSize &size : lengths.getSizes())
    countNames.push_back(size.name + "_count");
  size_t own = results.size();
  llvm::append_range(results, lengths.getCounts());
  names.append(countNames.begin(), countNames.end());
  returnFromMain(function, results, names);
  for (size_t i = own; i < results.size(); ++i)
    function.setResultAttr(i, nn::kSizeAttr,
                           builder.getI64IntegerAttr(int64_t(i - own)));
  markQuantizedPorts(function);
  for (auto [i, output] : llvm::enumerate(model.graph().output()))
    if (std::string name =
            getPackedName(getElementTypeOrSelf(*lookup(output.name(), main)));
        !name.empty())
      function.setResultAttr(i, nn::kModelTypeAttr,
                             builder.getStringAttr(name));
}
