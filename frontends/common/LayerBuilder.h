//===- LayerBuilder.h - Builds the nn ops of one layer of a model ---------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_LAYERBUILDER_H
#define NNC_FRONTENDS_COMMON_LAYERBUILDER_H

#include "dialects/nn/Nn.h"
#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"
#include "frontends/common/Problems.h"

#include "mlir/IR/Builders.h"

namespace nnc::frontends {

/// Builds the nn ops that compute one layer (node, operator) of a model. A
/// frontend derives the class that its converters take from this one.
///
/// Problems are values too: whatever fails reports why and returns a null
/// Value, and building on a null operand quietly gives null again. So a
/// converter checks only what it must before it looks at a type. An op whose
/// operands are known becomes a constant if it can be part of a computation of
/// shapes (Fold.h).
class LayerBuilder {
public:
  /// `op` is the framework's name of the layer's operator; messages start with
  /// it.
  LayerBuilder(mlir::OpBuilder &builder, Problems &problems, mlir::Location loc,
               llvm::StringRef op)
      : builder(builder), problems(problems), loc(loc), op(op) {}

  llvm::StringRef getOp() const { return op; }
  /// Whether an op that reads `x`, which has no elements, is dropped. It stays
  /// for a comparison with the network at other sizes, at which x has some.
  bool dropsEmpty(mlir::Value x) const {
    return !keepsEmpty || x.getDefiningOp<nn::ConstantOp>();
  }
  mlir::Location getLoc() const { return loc; }
  mlir::Builder &getBuilder() { return builder; }

  // Values that are known while importing.

  /// Returns the elements of `value`. Reports, where they are not known or not
  /// of that kind, that the layer needs `what` to be known.
  std::optional<llvm::SmallVector<int64_t>> readInts(mlir::Value value,
                                                     llvm::StringRef what);
  std::optional<llvm::SmallVector<double>> readReals(mlir::Value value,
                                                     llvm::StringRef what);
  /// Reports that the layer needs `what` that are known when compiling, which
  /// `value` is not, and what the user can do about that.
  mlir::Value needsKnown(mlir::Value value, const llvm::Twine &what);
  /// Returns `axis` counted from the front, or nullopt if it is not in
  /// [-rank, rank), which is reported.
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// Makes all axes non-negative. Returns false, and reports why, if one is not
  /// in [-rank, rank) or named twice.
  bool normalizeAxes(llvm::MutableArrayRef<int64_t> axes, int64_t rank);

  // Building.

  /// Creates an op whose result type follows from its operands and attributes.
  template <class Op, class... Args> mlir::Value create(Args... args) {
    if ((isNull(args) || ...))
      return {};
    mlir::OperationState state(loc, Op::getOperationName());
    Op::build(builder, state, mlir::Type(builder.getNoneType()), args...);
    return infer(state);
  }
  /// Creates an op of the given result type, once that is of a size that nnc
  /// handles.
  template <class Op, class... Args>
  mlir::Value createAs(mlir::Type type, Args... args) {
    if ((isNull(args) || ...) || !checkSize(type))
      return {};
    mlir::OperationState state(loc, Op::getOperationName());
    Op::build(builder, state, type, args...);
    return insert(state);
  }
  /// Creates the elementwise op of that name.
  mlir::Value createElementwise(llvm::StringRef op,
                                llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<mlir::NamedAttribute> = {});
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value constant(llvm::ArrayRef<int64_t> values); ///< a vector of i64
  /// Creates a constant of `shape` whose elements are all `value`.
  mlir::Value splat(mlir::TypedAttr value, llvm::ArrayRef<int64_t> shape);
  mlir::Value splat(double value, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape = {});
  /// Creates a constant without elements that has none at other sizes, either.
  mlir::Value alwaysEmpty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value castTo(mlir::Value x, mlir::Type element);

  /// Whether nnc handles a result of that type; reports where not.
  /// `isMade` says that the importer creates it of a few numbers in the file.
  bool checkSize(mlir::Type type, bool isMade = false);

  /// How large the model may be.
  const Limits &getLimits() const { return problems.getLimits(); }

  /// Calls `infer`, which emits a diagnostic and fails if operands do not fit.
  /// Reports that as a problem of the layer, and returns false then.
  bool check(llvm::function_ref<mlir::LogicalResult()> infer);

  // Failing. The text completes a sentence that starts with the operator.

  mlir::Value broken(const llvm::Twine &why) {
    return fail(ImportStatus::broken, why);
  }
  mlir::Value unsupported(const llvm::Twine &why) {
    return fail(ImportStatus::unsupported, why);
  }
  mlir::Value fail(ImportStatus status, const llvm::Twine &why,
                   const llvm::Twine &expected = "",
                   const llvm::Twine &found = "");

private:
  static bool isNull(mlir::Value value) { return !value; }
  static bool isNull(mlir::ValueRange values) {
    return llvm::is_contained(values, mlir::Value());
  }
  template <class T> static bool isNull(const T &) { return false; }
  mlir::Value infer(mlir::OperationState &state);
  /// Whether an op that has just been built is one that its dialect defines.
  /// Returns whether `op` passes its verifier, and else reports the layer.
  bool isSound(mlir::Operation *op);
  mlir::Value insert(mlir::OperationState &state);

  mlir::OpBuilder &builder;
  Problems &problems;
  mlir::Location loc;
  llvm::StringRef op;

protected:
  bool keepsEmpty = false;
};

// What types of values say; for null values nothing.
inline llvm::ArrayRef<int64_t> getShape(mlir::Value value) {
  return value ? llvm::cast<mlir::RankedTensorType>(value.getType()).getShape()
               : llvm::ArrayRef<int64_t>();
}
inline int64_t getRank(mlir::Value value) { return getShape(value).size(); }
inline int64_t getNumElements(mlir::Value value) {
  return mlir::ShapedType::getNumElements(getShape(value));
}
inline mlir::Type getElement(mlir::Value value) {
  return value ? mlir::getElementTypeOrSelf(value.getType()) : mlir::Type();
}
/// Returns the name of the network's input that `value` is, or null.
mlir::StringAttr getInputName(mlir::Value value);
/// Returns 0, 1, ... count - 1.
llvm::SmallVector<int64_t> iota(int64_t count);
/// Returns the product of sizes.
int64_t product(llvm::ArrayRef<int64_t> sizes);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LAYERBUILDER_H
