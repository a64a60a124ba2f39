//===- Quantized.cpp - Constants of quantized inputs and outputs ----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "codegen/Printer.h"

#include "dialects/qnn/Port.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::codegen;

std::optional<qnn::Port> codegen::getQuantization(exec::PlaceOpInterface port) {
  return qnn::readPortAttr(port->getAttr(qnn::kPortAttr));
}

static std::string printScale(double scale, MLIRContext *context) {
  return getLiteral(FloatAttr::get(Float32Type::get(context), scale));
}

/// Returns an integer as an expression that can be an operand of any operator.
static std::string printInteger(int64_t value) {
  return value < 0 ? "(" + std::to_string(value) + ")" : std::to_string(value);
}

/// Prints the constants for one scale and one zero point, or arrays with one of
/// each for every index of an axis. `stem` is the common part of their names.
static std::string printParameters(const qnn::Parameters &parameters,
                                   const std::string &stem,
                                   MLIRContext *context) {
  if (parameters.axis < 0)
    return "#define " + stem + "_SCALE " +
           printScale(parameters.scales.front(), context) + "\n#define " +
           stem + "_ZERO_POINT " + printInteger(parameters.zeroPoints.front()) +
           "\n";
  std::vector<std::string> scales, zeroPoints;
  for (double scale : parameters.scales)
    scales.push_back(printScale(scale, context));
  for (int64_t zeroPoint : parameters.zeroPoints)
    zeroPoints.push_back(std::to_string(zeroPoint));
  std::string count = "[" + std::to_string(scales.size()) + "] = {";
  return "#define " + stem + "_AXIS " + std::to_string(parameters.axis) + "\n" +
         printList("static const float " + stem + "_SCALE" + count, scales,
                   "};") +
         printList("static const int32_t " + stem + "_ZERO_POINT" + count,
                   zeroPoints, "};");
}

/// Prints the constants and functions of an input or output.
static std::string printPort(exec::PlaceOpInterface port,
                             const qnn::Port &quantized,
                             const std::string &program,
                             const std::string &stem) {
  const qnn::Parameters &parameters = quantized.parameters;
  MLIRContext *context = port->getContext();
  bool isEven = quantized.rounding == qnn::Rounding::half_even;
  bool hasAxis = parameters.axis >= 0;
  std::string index = hasAxis ? "[index]" : "";
  Values values;
  values["NAME"] = stem;
  values["name"] = program + "_" + port.getName().str();
  values["field"] = port.getName();
  values["element"] = getCType(port.getTensor().getElementType());
  values["constants"] = printParameters(parameters, stem, context);
  values["scale"] = stem + "_SCALE" + index;
  values["zero_point"] = stem + "_ZERO_POINT" + index;
  values["of_axis"] =
      hasAxis ? ",\n * of its index of axis " + std::to_string(parameters.axis)
              : "";
  values["parameter"] = hasAxis ? ", int32_t index" : "";
  values["least"] = printInteger(parameters.min);
  values["most"] = printInteger(parameters.max);
  values["halves"] = isEven ? "to the even one" : "away from zero";
  values["above"] = isEven
                        ? "steps > 0.5f || (steps >= 0.5f && nearest % 2 != 0)"
                        : "steps >= 0.5f";
  values["below"] =
      isEven ? "steps < -0.5f || (steps <= -0.5f && nearest % 2 != 0)"
             : "steps <= -0.5f";
  // Floats hold all integers of at most 16 bits exactly, but not all wider
  // ones.
  bool isExact = port.getTensor().getElementTypeBitWidth() <= 16;
  values["quantize"] = isExact ? fillTemplate("quantize.h.in", values) : "";
  return fillTemplate("quantized_port.h.in", values);
}

std::string codegen::printQuantizedPorts(exec::ProgramOp program) {
  std::string text, name = program.getSymName().str();
  // Fields whose names differ only in case keep their case in the names of
  // macros.
  llvm::StringMap<int> spellings;
  for (auto port : program.getBody().getOps<exec::PlaceOpInterface>())
    if (isa<exec::InputOp, exec::OutputOp>(port))
      ++spellings[port.getName().upper()];
  for (Operation &op : program.getBody().front()) {
    auto port = dyn_cast<exec::PlaceOpInterface>(op);
    auto quantized = port && isa<exec::InputOp, exec::OutputOp>(op)
                         ? getQuantization(port)
                         : std::optional<qnn::Port>();
    if (!quantized)
      continue;
    std::string field = port.getName().upper();
    if (spellings.lookup(field) > 1)
      field = port.getName().str();
    text += printPort(port, *quantized, name,
                      StringRef(name).upper() + "_" + field);
  }
  return text;
}
