//===- DecodeRoom.h - Memory in which weights can be decoded --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_DECODEROOM_H
#define NNC_COMPILER_ROUTINES_DECODEROOM_H

#include "dialects/nn/Nn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/ADT/StringMap.h"

namespace nnc {

/// The memory that is left for decoded weights beside each layer, while a
/// module needs no more than it does at most, and up to a limit.
class DecodeRoom {
public:
  /// Any memory is left.
  DecodeRoom() = default;
  /// Finds what is left beside the layers of a module whose routines are
  /// chosen. A function that an op runs has what is in use there beside it.
  DecodeRoom(mlir::ModuleOp module, int64_t maxRam);

  struct Bytes {
    int64_t room = std::numeric_limits<int64_t>::max();
    int64_t limit = std::numeric_limits<int64_t>::max();
  };
  /// Returns that of the layer of this name in a function of this name.
  Bytes get(mlir::func::FuncOp function, nn::LayerOp layer) const;

private:
  llvm::StringMap<llvm::StringMap<Bytes>> layers;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DECODEROOM_H
