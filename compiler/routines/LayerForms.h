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

/// Returns the forms that products may have under these rules. Where the bytes
/// of weights are limited or an encoding is asked for, only forms with integers
/// are allowed, because floats take four times as many bytes.
inline Products limitProducts(const WeightRules &rules,
                              Products wanted = Products::any) {
  return rules.weighsBytes || !rules.isEncodingOpen() ? Products::integers
                                                      : wanted;
}

/// Returns true if `form` still uses the integers that calibration gave
/// `layer`: it multiplies them if it is a product, and stores them otherwise.
bool keepsIntegers(nn::LayerOp layer, nn::LayerOp form);

/// The other forms of a function's layers: layers that compute the same with
/// operands or a result of other element types. The search chooses one form of
/// each layer, and treats conversions of the element type as adapts.
///
/// The precisions f16 and bf16 allow forms with floats of 16 bits, here called
/// halves, for the floats of a model, unless the model is quantized:
/// - An anchor reads its inputs as halves and stores halves. A product of bf16
///   on a CPU may store floats instead, and on GPUs any product for the caller.
///   A constant is rounded; a layer has no such form if a constant is too large
///   for a half. On GPUs a layer may read the first input as floats and round
///   it, if the caller passes that input.
/// - An epilogue loads any of its extras, and an elementwise layer stores its
///   result, as halves. It always computes with floats: it converts what it
///   loads and rounds what it stores.
///
/// The precision tf32 allows each layer that multiplies floats a form for
/// routines that round both factors to tf32. Its types are those of the layer.
///
/// A quantized model has layers that multiply integers of 8 or 16 bits. Such a
/// layer has a form with floats if floats can compute all of it, and integers
/// between layers may be held as floats (HeldFloats.h). The results are equal
/// bit for bit, except for products that the model defines with floats
/// (qnn::kOfFloatsAttr), whose sums may be rounded on some targets
/// (target::DeviceAttr::mayRoundIntegers). Targets without vectors
/// multiply floats no faster than integers, so they have no such forms unless
/// Products::both asks for them. Products::both also lets anchors other than
/// products store floats, so that the integers of any layer can be compared
/// with floats.
///
/// A form is outside of the function until the search takes it. Its operands
/// are those of the layer, except for constants; the arguments of its regions
/// have the element types in which it reads them.
class LayerForms {
public:
  LayerForms() = default;
  /// Unless `maxError` is 0, methods that round may compute layers of integers
  /// where the target allows it.
  /// `boundsRounding` says whether the errors of candidates include the
  /// rounding of halves; see getRounding().
  LayerForms(mlir::func::FuncOp function, Precision precision,
             Products products = Products::any, double maxError = 0,
             bool boundsRounding = false);
  LayerForms(LayerForms &&) = default;
  ~LayerForms() { clear(); }

  bool empty() const { return forms.empty(); }
  /// Returns true if the search must take one of the other forms of the layer.
  bool isLeftOut(nn::LayerOp layer) const { return leftOut.contains(layer); }
  llvm::ArrayRef<nn::LayerOp> getOthers(nn::LayerOp layer) const {
    auto found = forms.find(layer);
    return found == forms.end() ? llvm::ArrayRef<nn::LayerOp>()
                                : llvm::ArrayRef<nn::LayerOp>(found->second);
  }
  /// Returns true if only routines that add no rounding of their own, beyond
  /// that of plain sums of products, may compute the form.
  bool isExact(nn::LayerOp form) const { return exact.contains(form); }
  /// Returns true if only routines that round factors to tf32 may compute the
  /// form.
  bool roundsToTf32(nn::LayerOp form) const { return tf32.contains(form); }
  /// Returns the relative error, root mean square, that halves add to the
  /// result of a form by rounding: of each constant and input that it
  /// multiplies, of sums that are halves, and of the result. Roundings are
  /// independent, so their squares add up. A value that one layer stores and
  /// another multiplies counts for both, because a cast may lie between them.
  /// Returns 0 for forms without halves, and unless the rounding is bounded.
  double getRounding(nn::LayerOp form) const { return rounding.lookup(form); }
  /// Returns how many times the error of rounding a number to a half is that of
  /// rounding it to a float of 32 bits.
  double getUnitOfHalves() const;
  /// Returns the further element types in which an op that passes on its
  /// operand in any type may read `value`.
  llvm::SmallVector<mlir::Type> getElements(mlir::Value value) const;
  /// Returns a layer, outside of the function, that converts a tensor to
  /// another element type and keeps its layout, as createCast() would. Returns
  /// null if no form needs such a cast.
  nn::LayerOp getCast(mlir::RankedTensorType from, mlir::Type element) const;
  /// Creates a layer that converts `value` to another element type and keeps
  /// its layout. `value` belongs to the function or is the result of an adapt
  /// or cast of such a value.
  nn::LayerOp createCast(mlir::OpBuilder &builder, mlir::Location loc,
                         llvm::StringRef name, mlir::Value value,
                         mlir::Type element) const;
  /// Replaces a layer by one of its forms and erases the layer. The operands of
  /// the form still have the types that the layer read.
  void take(nn::LayerOp layer, nn::LayerOp form);
  /// Frees the forms that were not taken, and the memory of their constants.
  void clear();

private:
  /// Returns a copy of a layer, outside of the function.
  nn::LayerOp copy(nn::LayerOp layer);
  void addHalves(nn::LayerOp layer);
  double estimateRounding(nn::LayerOp form, bool sumsHalves) const;
  void addTf32(nn::LayerOp layer);
  nn::LayerOp computeWithHalves(nn::LayerOp layer);
  nn::LayerOp roundInput(nn::LayerOp anchored);
  mlir::Value convert(nn::ConstantOp constant, mlir::Type element);
  void addFloats(mlir::func::FuncOp function, Products products);
  void addHeld(nn::LayerOp layer);
  nn::LayerOp computeWithFloats(nn::LayerOp layer);

  mlir::FloatType half; ///< f16 or bf16, or null if no form has such elements
  /// Holds forms, their constants and casts.
  std::unique_ptr<mlir::Block> block;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<nn::LayerOp>> forms;
  mutable llvm::DenseMap<std::pair<mlir::Type, mlir::Type>, nn::LayerOp> casts;
  /// The constants in other element types; null if a value is too large for the
  /// type.
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> converted;
  mutable HeldFloats held;
  llvm::DenseSet<mlir::Operation *> leftOut, exact, tf32;
  bool mayRoundIntegers = false, boundsRounding = false;
  llvm::DenseMap<mlir::Operation *, double> rounding; ///< if it is bounded
};

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_LAYERFORMS_H
