//===- ObservedModule.cpp - Values of a module as further outputs ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "compiler/quantize/ObservedModule.h"

#include "compiler/quantize/Results.h"
#include "dialects/qnn/Qnn.h"
#include "dialects/qnn/Ranges.h"

namespace nnc::quantize {

std::string getObservedName(size_t number) {
  return "nnc.observed." + std::to_string(number);
}

void addObserved(mlir::func::FuncOp function, llvm::ArrayRef<size_t> numbers) {
  llvm::SmallVector<mlir::Value> values = qnn::listValues(function);
  llvm::SmallVector<mlir::Value> added;
  std::vector<std::string> names;
  for (size_t number : numbers) {
    added.push_back(values[number]);
    names.push_back(getObservedName(number));
  }
  addResults(function, added, names);
}

llvm::SmallVector<size_t> listObserved(mlir::func::FuncOp function,
                                       const Plan &plan) {
  llvm::SmallVector<size_t> numbers;
  for (auto [number, value] : llvm::enumerate(qnn::listValues(function)))
    if (plan.values.count(value) && !plan.sameAs.count(value))
      numbers.push_back(number);
  return numbers;
}

/// Returns the quantized and dequantized copy of a float tensor, or the tensor
/// itself if there is none.
static mlir::Value findDequantized(mlir::Value value) {
  for (mlir::Operation *user : value.getUsers())
    if (llvm::isa<qnn::QuantizeOp>(user))
      for (mlir::Operation *reader : user->getUsers())
        if (llvm::isa<qnn::DequantizeOp>(reader))
          return reader->getResult(0);
  return value;
}

void returnDequantized(mlir::func::FuncOp function, size_t count) {
  mlir::Operation *end = function.getBody().front().getTerminator();
  for (size_t i = end->getNumOperands() - count; i < end->getNumOperands(); ++i)
    end->setOperand(unsigned(i), findDequantized(end->getOperand(unsigned(i))));
}

} // namespace nnc::quantize
