//===- Calibrate.cpp - Record the ranges of float values ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/passes/Passes.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/qnn/Ranges.h"

#include "llvm/ADT/StringExtras.h"

namespace nnc {
#define GEN_PASS_DEF_CALIBRATE
#include "compiler/passes/Passes.h.inc"
} // namespace nnc

using namespace mlir;
using namespace nnc;

/// Parses NUMBER:LOW:HIGH and sets the range of value number NUMBER. Reports an
/// error if the text is invalid.
static LogicalResult record(StringRef text, ArrayRef<Value> values,
                            Location location) {
  SmallVector<StringRef, 3> parts;
  text.split(parts, ':');
  size_t number = 0;
  qnn::ValueRange range{};
  if (parts.size() != 3 || parts[0].getAsInteger(10, number) ||
      !llvm::to_float(parts[1], range.low) ||
      !llvm::to_float(parts[2], range.high))
    return emitError(location)
           << "'" << text << "' is no range; write NUMBER:LOW:HIGH";
  if (number >= values.size())
    return emitError(location) << "there is no value number " << number
                               << "; the function has " << values.size();
  qnn::setRange(values[number], range);
  return success();
}

namespace {
struct CalibratePass : nnc::impl::CalibrateBase<CalibratePass> {
  using CalibrateBase::CalibrateBase;
  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main)
      return;
    SmallVector<Value> values = qnn::listValues(main);
    for (const std::string &text : ranges)
      if (failed(record(text, values, main.getLoc())))
        return signalPassFailure();
    if (failed(qnn::verifyRanges(main)))
      signalPassFailure();
  }
};
} // namespace
