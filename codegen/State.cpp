//===- State.cpp - State that a module keeps between runs -----------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/nn/tensors/TensorData.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

bool codegen::hasState(exec::ProgramOp program) {
  return !program.getBody().getOps<exec::StateOp>().empty();
}

/// Returns an element as a literal of the C type of its field. The field of a
/// 16-bit float holds its bits as an integer.
static std::string printElement(Attribute element) {
  auto number = dyn_cast<FloatAttr>(element);
  if (number && number.getType().getIntOrFloatBitWidth() == 16)
    return std::to_string(number.getValue().bitcastToAPInt().getZExtValue());
  return getLiteral(cast<TypedAttr>(element));
}

/// Returns the initial value of a state as an attribute with access to each
/// element, which a resource of bytes does not have. Returns null if the state
/// begins with zeros.
static DenseElementsAttr getFirstValue(exec::StateOp state) {
  ElementsAttr value = state.getInitialAttr();
  if (!value || value.getNumElements() == 0)
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(value))
    return dense;
  TensorData data = *TensorData::get(value);
  if (llvm::all_of(data.getBytes(), [](char byte) { return byte == 0; }))
    return {};
  if (data.getElementType().isInteger(1))
    return DenseElementsAttr::get(data.getType(), data.getAs<bool>());
  return DenseElementsAttr::getFromRawBuffer(data.getType(), data.getBytes());
}

/// Returns the statements that fill a state, unless it begins with zeros. If
/// all elements are equal, no table is needed.
static std::string printInitial(exec::StateOp state) {
  DenseElementsAttr value = getFirstValue(state);
  if (!value)
    return "";
  std::string name = state.getName().str(), text, element;
  if (value.isSplat()) {
    element = printElement(value.getSplatValue<Attribute>());
  } else {
    SmallVector<std::string> literals(
        llvm::map_range(value.getValues<Attribute>(), printElement));
    text =
        printList("  static const " + getCType(value.getElementType()).str() +
                      " first_" + name + "[] = {",
                  literals, "};");
    element = "first_" + name + "[i]";
  }
  return text + "  for (int i = 0; i < " +
         std::to_string(value.getNumElements()) + "; ++i)\n    state->" + name +
         "[i] = " + element + ";\n";
}

std::string codegen::printReset(exec::ProgramOp program) {
  std::string name = program.getSymName().str();
  std::string text = printList("extern \"C\" void " + name + "_reset(",
                               {"struct " + name + "_state *state"}, ") {");
  text += "  *state = {};\n";
  for (auto state : program.getBody().getOps<exec::StateOp>())
    text += printInitial(state);
  return text + "}\n";
}
