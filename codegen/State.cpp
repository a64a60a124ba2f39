//===- State.cpp - What a module keeps between runs -----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

bool codegen::hasState(exec::ProgramOp program) {
  return !program.getBody().getOps<exec::StateOp>().empty();
}

/// Returns the elements of `value` as literals of the C type of its field,
/// which for 16-bit floats is that of their bits.
static SmallVector<std::string> getLiterals(ElementsAttr value) {
  SmallVector<std::string> literals;
  for (Attribute element : value.getValues<Attribute>()) {
    auto number = dyn_cast<FloatAttr>(element);
    if (number && number.getType().getIntOrFloatBitWidth() == 16)
      literals.push_back(
          std::to_string(number.getValue().bitcastToAPInt().getZExtValue()));
    else
      literals.push_back(getLiteral(cast<TypedAttr>(element)));
  }
  return literals;
}

/// Returns the statements that fill a state other than with zeros. Elements
/// that are all alike need no table.
static std::string printInitial(exec::StateOp state) {
  ElementsAttr value = state.getInitialAttr();
  if (!value || value.getNumElements() == 0)
    return "";
  std::string name = state.getName().str();
  bool isSplat = value.isSplat();
  SmallVector<std::string> literals =
      isSplat ? getLiterals(cast<DenseElementsAttr>(value).resizeSplat(
                    RankedTensorType::get({1}, value.getElementType())))
              : getLiterals(value);
  std::string type = getCType(value.getElementType()).str();
  std::string text, element = literals.front();
  if (!isSplat) {
    text += printList("  static const " + type + " first_" + name + "[] = {",
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
