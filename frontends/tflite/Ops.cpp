//===- Ops.cpp - The TFLite operators that nnc knows ----------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tflite/Ops.h"

#include "frontends/tflite/file/Load.h"
#include "frontends/tflite/graph/Layer.h"

using namespace mlir;
using namespace nnc::tflite;

namespace nnc::tflite {
#define NNC_TFLITE_OP(name, code, from, to, activations, converter, limits)    \
  Value converter(Layer &);
#include "frontends/tflite/Ops.inc"
} // namespace nnc::tflite

static constexpr OpInfo kOps[] = {
#define NNC_TFLITE_OP(name, code, from, to, activations, converter, limits)    \
  {#name, code, limits, from, to, activations, converter},
#include "frontends/tflite/Ops.inc"
};

/// TFLite's code of custom operators, which are identified by their names.
static constexpr int32_t kCustom = 32;

ArrayRef<OpInfo> nnc::tflite::getOps() { return kOps; }

/// Returns the code of an operator. In old files it is in a field of 7 bits.
static int32_t getCode(const fb::OperatorCode &code) {
  return std::max<int32_t>(code.builtin_code(), code.deprecated_code());
}

const OpInfo *nnc::tflite::findOp(const fb::OperatorCode &code) {
  int32_t number = getCode(code);
  std::string custom = number == kCustom ? getText(code.custom_code()) : "";
  const OpInfo *found = llvm::find_if(kOps, [&](const OpInfo &op) {
    return op.code == number || (op.code == -1 && op.name == custom);
  });
  return found == std::end(kOps) ? nullptr : found;
}

std::string nnc::tflite::getOpName(const fb::OperatorCode &code) {
  bool isCustom = !findOp(code) && getCode(code) == kCustom;
  return isCustom ? "custom operator '" + getBareName(code) + "'"
                  : getBareName(code);
}

std::string nnc::tflite::getBareName(const fb::OperatorCode &code) {
  if (const OpInfo *op = findOp(code))
    return op->name.str();
  if (getCode(code) == kCustom)
    return getText(code.custom_code());
  static constexpr std::pair<int32_t, StringLiteral> kOthers[] = {
#define NNC_TFLITE_NAME(name, code) {code, #name},
#include "frontends/tflite/UnsupportedOps.inc"
  };
  for (const auto &[number, name] : kOthers)
    if (number == getCode(code))
      return name.str();
  return "operator number " + std::to_string(getCode(code));
}
