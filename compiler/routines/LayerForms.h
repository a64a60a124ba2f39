//===- LayerForms.h - Layers that compute the same in other types ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_LAYERFORMS_H
#define NNC_COMPILER_ROUTINES_LAYERFORMS_H

#include "compiler/routines/HeldFloats.h"
#include "compiler/routines/Precision.h"
#include "compiler/routines/WeightRules.h"
#include "dialects/exec/Exec.h"
#include "dialects/nn/Nn.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace nnc {

/// Returns the forms that products have under these rules: integers alone where
/// few bytes of weights are asked for, as floats take four times as many.
inline Products limitProducts(const WeightRules &rules,
                              Products wanted = Products::any) {
  return rules.weighsBytes || !rules.isEncodingOpen() ? Products::integers
                                                      : wanted;
}

/// Returns whether a form of a layer has the integers that calibration gave the
/// layer: whether it multiplies them if it is a product, or else stores them.
bool keepsIntegers(nn::LayerOp layer, nn::LayerOp form);

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
/// A quantized model has layers that multiply integers of 8 or 16 bits. Where
/// floats can compute all of such a layer, a form of it does, and integers
/// between layers may be held as floats (HeldFloats.h). Results are the same,
/// bit for bit, but for products that the model defines with floats
/// (qnn::kOfFloatsAttr), whose sums may be rounded. Targets without vectors,
/// which multiply floats no faster than integers, have no such forms, unless
/// both kinds of products are asked for. Then other anchors than products may
/// store floats, too, so that integers of any layer can be weighed against
/// floats.
///
/// A form is outside of the function until it is taken. Its operands are the
/// layer's, but for constants; the arguments of its regions say which element
/// types it reads them with.
class LayerForms {
public:
  LayerForms() = default;
  LayerForms(mlir::func::FuncOp function, Precision precision,
             Products products = Products::any);
  LayerForms(LayerForms &&) = default;
  ~LayerForms() { clear(); }

  bool empty() const { return forms.empty(); }
  /// Whether the search has to take one of the other forms of a layer.
  bool isLeftOut(nn::LayerOp layer) const { return leftOut.contains(layer); }
  llvm::ArrayRef<nn::LayerOp> getOthers(nn::LayerOp layer) const {
    auto found = forms.find(layer);
    return found == forms.end() ? llvm::ArrayRef<nn::LayerOp>()
                                : llvm::ArrayRef<nn::LayerOp>(found->second);
  }
  /// Returns whether a form may be computed only by routines that round nothing
  /// but what sums of products round.
  bool isExact(nn::LayerOp form) const { return exact.contains(form); }
  /// Returns the element types, besides its own, of which a value may be that
  /// an op passes on.
  llvm::SmallVector<mlir::Type> getElements(mlir::Value value) const;
  /// Returns a layer, outside of the function, that converts a tensor to
  /// another element type and keeps its layout, as createCast() would; null if
  /// no form needs one.
  nn::LayerOp getCast(mlir::RankedTensorType from, mlir::Type element) const;
  /// Creates a layer that converts `value`, which the function or a step from
  /// there makes, to another element type and keeps its layout.
  nn::LayerOp createCast(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef name, mlir::Value value,
                         mlir::Type element) const;
  /// Puts a form in the place of its layer, which is erased. Its operands still
  /// have the types that the layer read.
  void take(nn::LayerOp layer, nn::LayerOp form);
  /// Frees the forms that were not taken, and the memory of their constants.
  void clear();

private:
  /// Returns a copy of a layer, outside of the function.
  nn::LayerOp copy(nn::LayerOp layer);
  void addHalves(nn::LayerOp layer);
  nn::LayerOp computeWithHalves(nn::LayerOp layer);
  mlir::Value convert(nn::ConstantOp constant, mlir::Type element);
  void addFloats(mlir::func::FuncOp function, Products products);
  void addHeld(nn::LayerOp layer);
  nn::LayerOp computeWithFloats(nn::LayerOp layer);

  std::unique_ptr<mlir::Block> block; ///< of forms, their constants and casts
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<nn::LayerOp>> forms;
  mutable llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, nn::LayerOp> casts;
  /// Constants in other element types; null where one is too large.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converted;
  mutable HeldFloats held;
  llvm::DenseSet<mlir::Operation *> leftOut, exact;
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYERFORMS_H
