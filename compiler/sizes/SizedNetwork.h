//===- SizedNetwork.h - A network at several sizes --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
//
// A module that holds a network at several sizes: a nested module with the
// network at the largest sizes, and an nn.sample for each other point for which
// the network is compiled.
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
  /// Reads a module. Fails with an error if it is not a network at several
  /// sizes.
  static mlir::FailureOr<SizedNetwork> read(mlir::ModuleOp module);
  /// Creates the module of a network at several sizes from the networks at the
  /// samples of `finder`, of which the first has the largest sizes.
  static mlir::OwningOpRef<mlir::ModuleOp>
  join(llvm::ArrayRef<mlir::ModuleOp> networks, const ExpressionFinder &finder);

  /// Returns the network at the largest sizes.
  mlir::ModuleOp getPlan() const { return networks.front(); }
  /// Returns the networks in the order of the finder's samples.
  llvm::ArrayRef<mlir::ModuleOp> getNetworks() const { return networks; }
  ExpressionFinder &getFinder() { return finder; }
  /// Returns true if a size of a point exceeds its range.
  bool isBeyond(llvm::ArrayRef<int64_t> point) const;
  /// Returns the sizes as the attribute `exec.sizes` of a program.
  mlir::ArrayAttr getSizes() const;

  /// Stores the sums that the finder has found in the module, for later passes.
  void keepSums();
  /// Replaces the contents of the module by those of the network at the largest
  /// sizes.
  void becomePlan();

private:
  SizedNetwork(mlir::ModuleOp module, ExpressionFinder finder)
      : module(module), finder(std::move(finder)) {}

  mlir::ModuleOp module;
  std::vector<mlir::ModuleOp> networks;
  ExpressionFinder finder;
};

/// Moves the contents of `inner`, a module nested in `outer`, to the end of
/// `outer`, and erases `inner`.
void moveInto(mlir::ModuleOp outer, mlir::ModuleOp inner);

} // namespace nnc

#endif // NNC_COMPILER_SIZES_SIZEDNETWORK_H
