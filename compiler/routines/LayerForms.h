//===- LayerForms.h - Layers that compute the same in other types ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYERFORMS_H
#define NNC_COMPILER_ROUTINES_LAYERFORMS_H

#include "compiler/routines/Precision.h"
#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace nnc {

/// The other forms of a function's layers: layers that compute the same with
/// operands or a result of other element types. The search chooses one form of
/// each layer; conversions between layers are adapts to it.
///
/// The precision f16 allows halves where the model has floats, unless it is a
/// quantized one:
/// - An anchor reads its inputs as halves and stores halves. A constant is
///   rounded; a layer has no such form if a constant is too large for a half.
/// - An epilogue loads any of its extras, and an elementwise layer stores its
///   result, as halves. It always computes with floats: it converts what it
///   loads and rounds what it stores.
///
/// A form is outside of the function until it is taken. Its operands are the
/// layer's, but for constants; the arguments of its regions say which element
/// types it reads them with.
class LayerForms {
public:
  LayerForms() = default;
  LayerForms(mlir::func::FuncOp function, Precision precision);
  LayerForms(LayerForms &&) = default;
  ~LayerForms() { clear(); }

  bool empty() const { return forms.empty(); }
  llvm::ArrayRef<nn::LayerOp> getOthers(nn::LayerOp layer) const {
    auto found = forms.find(layer);
    return found == forms.end() ? llvm::ArrayRef<nn::LayerOp>()
                                : llvm::ArrayRef<nn::LayerOp>(found->second);
  }
  /// Returns a layer, outside of the function, that converts a tensor to
  /// another element type and keeps its layout; null if no form needs one.
  nn::LayerOp getCast(mlir::RankedTensorType from, mlir::Type element) const;
  /// Puts a form in the place of its layer, which is erased. Its operands still
  /// have the types that the layer read.
  void take(nn::LayerOp layer, nn::LayerOp form);
  /// Frees the forms that were not taken, and the memory of their constants.
  void clear();

private:
  void addHalves(nn::LayerOp layer);
  nn::LayerOp computeWithHalves(nn::LayerOp layer);
  mlir::Value round(nn::ConstantOp constant);

  std::unique_ptr<mlir::Block> block; ///< of forms, their constants and casts
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<nn::LayerOp>> forms;
  mutable llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, nn::LayerOp> casts;
  /// Constants as halves; null where one is too large.
  llvm::DenseMap<mlir::Value, mlir::Value> rounded;
};

/// Creates a layer that converts `value` to another element type and keeps its
/// layout.
nn::LayerOp createCast(mlir::OpBuilder &builder, mlir::Location loc,
                       llvm::StringRef name, mlir::Value value,
                       mlir::Type element);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYERFORMS_H
