//===- DecodeRoom.h - Free memory for decoded weights ---------------------===//
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

/// The memory for a decoded weight beside each layer of a module: the bytes
/// that do not raise the module's peak memory, and the bytes that stay within a
/// limit.
class DecodeRoom {
public:
  /// Sets no bound on the memory for decoded weights.
  DecodeRoom() = default;
  /// Finds the free bytes beside each layer of a module whose routines are
  /// chosen. The body function of a control-flow op runs while the values that
  /// are live at the op still take their memory.
  DecodeRoom(mlir::ModuleOp module, int64_t maxRam);

  struct Bytes {
    int64_t room = std::numeric_limits<int64_t>::max();
    int64_t limit = std::numeric_limits<int64_t>::max();
  };
  /// Returns the bytes for the layer with the name of `layer` in the function
  /// with the name of `function`.
  Bytes get(mlir::func::FuncOp function, nn::LayerOp layer) const;

private:
  llvm::StringMap<llvm::StringMap<Bytes>> layers;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_DECODEROOM_H
