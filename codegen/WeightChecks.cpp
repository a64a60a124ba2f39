//===- WeightChecks.cpp - Pointers to weights, and their checks -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Program.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

std::string codegen::getWeightsPointer(exec::ProgramOp program,
                                       const EmitOptions &options) {
  if (takesWeights(program, options))
    return "inputs->weights";
  for (const WeightsPiece &piece : listWeights(program))
    if (piece.memory.empty())
      return piece.symbol;
  return "nullptr";
}

/// Returns the prefix of the namespace with the constants of a piece of the
/// weights.
static std::string getScope(const WeightsPiece &piece) {
  return piece.memory.empty() ? "" : "weights_" + piece.memory + "::";
}

std::string codegen::printWeightChecks(exec::ProgramOp program,
                                       const std::string &scope,
                                       bool checksAll) {
  std::string text;
  for (const WeightsPiece &piece : listWeights(program)) {
    SmallVector<std::string> arguments = {piece.symbol};
    if (checksAll)
      arguments.push_back(piece.macro);
    text += printList("  if (const int fault = " + scope + getScope(piece) +
                          "find_fault(",
                      arguments, "))") +
            "    return fault;\n";
  }
  return text + "  return " + program.getSymName().upper() + "_OK;\n";
}

std::string codegen::printWeightFaults(exec::ProgramOp program,
                                       ArrayRef<WeightsPiece> weights,
                                       const Values &values) {
  std::string text;
  for (auto [piece, own] : llvm::zip_equal(weights, listWeights(program))) {
    Values more = values;
    more["hash"] = "0x" + llvm::utohexstr(piece.hash, /*LowerCase=*/true,
                                          /*Width=*/16);
    more["header"] = std::to_string(getWeightsHeaderBytes(program));
    more["macro"] = own.macro;
    std::string constants = program.getSymName().upper();
    more["alignment"] = isCuda(program)
                            ? ""
                            : "  if (reinterpret_cast<uintptr_t>(weights) % " +
                                  constants + "_ALIGN != 0)\n    return " +
                                  constants + "_MISALIGNED_WEIGHTS;\n";
    std::string checks = fillTemplate("check_weights.in", more);
    std::string scope = getScope(piece);
    StringRef name = StringRef(scope).drop_back(scope.empty() ? 0 : 2);
    text += name.empty()
                ? checks
                : ("namespace " + name + " {\n" + StringRef(checks).rtrim() +
                   "\n} // namespace " + name + "\n\n")
                      .str();
  }
  return text;
}

std::string codegen::printWeightArrays(ArrayRef<WeightsPiece> weights) {
  std::string text;
  for (const WeightsPiece &piece : weights)
    text += "\nextern \"C\" const unsigned char " + piece.symbol + "[];\n";
  return text;
}

std::string codegen::printCheckEntry(exec::ProgramOp program,
                                     const EmitOptions &options) {
  std::string name = program.getSymName().str();
  bool given = !embedsWeights(program, options);
  SmallVector<std::string> parameters, arguments;
  if (given) {
    parameters = {"const void *weights", "size_t bytes"};
    arguments = {"weights", "bytes"};
  } else {
    arguments = {listWeights(program).front().symbol,
                 program.getSymName().upper() + "_WEIGHT_BYTES"};
  }
  std::string head =
      "\n" + printList("extern \"C\" int " + name + "_check_weights(",
                       parameters, ") {");
  if (!program.getWeightMemories().empty())
    return head +
           printWeightChecks(program, name + "_layers::", /*checksAll=*/true) +
           "}\n";
  return head +
         printList("  return " + name + "_layers::find_fault(", arguments,
                   ");") +
         "}\n";
}
