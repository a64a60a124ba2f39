//===- Measurements.cpp - Keys of measurements ----------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/routines/Measurements.h"

#include "compiler/routines/Catalogue.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::nn;

static void printInts(ArrayRef<int64_t> values, llvm::raw_ostream &stream) {
  llvm::interleave(values, stream, ",");
}

/// Prints the value of a field: an integer (56), a real (0.5), a list (1,2,3)
/// or a list of lists (1,2/3,4).
static void printField(Attribute value, llvm::raw_ostream &stream) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    stream << integer.getInt();
  else if (auto real = dyn_cast<FloatAttr>(value))
    stream << real.getValueAsDouble();
  else if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    printInts(list, stream);
  else
    llvm::interleave(
        cast<ArrayAttr>(value).getValue(), stream,
        [&](Attribute item) { printField(item, stream); }, "/");
}

/// Prints a call, for instance as "conv2d n=1 c=64 ...".
static void printCall(const RoutineCall &call, llvm::raw_ostream &stream) {
  stream << call.family;
  for (NamedAttribute field : call.fields.getFields()) {
    stream << ' ' << field.getName().getValue() << '=';
    printField(field.getValue(), stream);
  }
}

/// Prints the element types of the tensors, each once; prints nothing if the
/// only type is f32.
static void printElements(TypeRange tensors, llvm::raw_ostream &stream) {
  llvm::SetVector<Type> elements;
  for (Type type : tensors)
    elements.insert(cast<RankedTensorType>(type).getElementType());
  if (elements.size() == 1 && elements.front().isF32())
    return;
  stream << " of ";
  llvm::interleave(elements, stream, ",");
}

std::string nnc::describeLayer(LayerOp layer,
                               ArrayRef<RankedTensorType> operands,
                               RankedTensorType result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(
      layer.getRoutineCallsOn(operands, result), stream,
      [&](const RoutineCall &call) { printCall(call, stream); }, " and ");
  SmallVector<Type> tensors(operands);
  tensors.push_back(result);
  printElements(tensors, stream);
  SmallVector<int64_t> constants;
  for (auto [i, input] : llvm::enumerate(layer.getInputs()))
    if (Operation *op = input.getDefiningOp();
        op && op->hasTrait<OpTrait::ConstantLike>())
      constants.push_back(i);
  if (!constants.empty()) {
    stream << " constant ";
    printInts(constants, stream);
  }
  auto functions = layer.getEpilogue().getOps<ElementwiseOpInterface>();
  if (!functions.empty())
    stream << " then ";
  llvm::interleave(
      functions, stream,
      [&](ElementwiseOpInterface op) {
        llvm::interleave(op.getSteps(), stream, ",");
      },
      ",");
  if (layer.getAnchorOp() && !layer.getExtras().empty()) {
    stream << " with ";
    llvm::interleave(
        operands.take_back(layer.getExtras().size()), stream,
        [&](RankedTensorType type) {
          llvm::interleave(type.getShape(), stream, "x");
        },
        ",");
  }
  return text;
}

std::string nnc::describeAdapt(const RoutineCall &call, RankedTensorType from) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printCall(call, stream);
  printElements(Type(from), stream);
  return text;
}
