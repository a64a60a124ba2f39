//===- SizedNetwork.h - A network at several sizes --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// A module with one module inside, the network at the largest sizes, and one
// nn.sample for each other point for which it is compiled.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_SIZES_SIZEDNETWORK_H
#define NNC_COMPILER_SIZES_SIZEDNETWORK_H

#include "compiler/sizes/SizeRange.h"
#include "dialects/nn/Nn.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace nnc {

class SizedNetwork {
public:
  /// Reads a module; reports what it lacks.
  static mlir::FailureOr<SizedNetwork> read(mlir::ModuleOp module);
  /// Makes a module of a network at the points of `finder`, the largest sizes
  /// first.
  static mlir::OwningOpRef<mlir::ModuleOp>
  join(llvm::ArrayRef<mlir::ModuleOp> networks, const ExpressionFinder &finder);

  /// The network at the largest sizes.
  mlir::ModuleOp getPlan() const { return networks.front(); }
  /// The network at each point of the finder.
  llvm::ArrayRef<mlir::ModuleOp> getNetworks() const { return networks; }
  ExpressionFinder &getFinder() { return finder; }
  /// Whether a point has larger sizes than the bounds.
  bool isBeyond(llvm::ArrayRef<int64_t> point) const;
  /// Returns the sizes as a program has them.
  mlir::ArrayAttr getSizes() const;

  /// Lets later passes know the sums that the finder has found.
  void keepSums();
  /// Makes the module what the network at the largest sizes is.
  void becomePlan();

private:
  SizedNetwork(mlir::ModuleOp module, ExpressionFinder finder)
      : module(module), finder(std::move(finder)) {}

  mlir::ModuleOp module;
  std::vector<mlir::ModuleOp> networks;
  ExpressionFinder finder;
};

/// Moves the contents of a module inside of `outer` to its end, and erases that
/// module.
void moveInto(mlir::ModuleOp outer, mlir::ModuleOp inner);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_SIZEDNETWORK_H
