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

/// A builder of the nn ops that compute one layer (node, operator) of a model.
/// Each frontend derives from it the class that its converters take.
///
/// Errors propagate as null values: a function that fails reports the reason
/// and returns a null Value, and a function with a null operand returns null
/// without a further report. So a converter has to check for null only before
/// it looks at a type. An op with constant operands becomes a constant if it
/// can be part of a computation of shapes (Fold.h).
class LayerBuilder {
public:
  /// `op` is the framework's name of the layer's operator; messages start with
  /// it.
  LayerBuilder(mlir::OpBuilder &builder, Problems &problems, mlir::Location loc,
               llvm::StringRef op)
      : builder(builder), problems(problems), loc(loc), op(op) {}

  llvm::StringRef getOp() const { return op; }
  /// Returns true if `x` has no elements and ops that read it may be dropped.
  /// They may not if the network is compared with imports at other sizes, at
  /// which `x` has elements.
  bool dropsEmpty(mlir::Value x) const {
    return !keepsEmpty || x.getDefiningOp<nn::ConstantOp>();
  }
  mlir::Location getLoc() const { return loc; }
  mlir::Builder &getBuilder() { return builder; }

  // Values that are known while importing.

  /// Returns the elements of a constant `value`. If it is no constant or of
  /// another kind, reports that the layer needs `what` to be known and returns
  /// nullopt.
  std::optional<llvm::SmallVector<int64_t>> readInts(mlir::Value value,
                                                     llvm::StringRef what);
  std::optional<llvm::SmallVector<double>> readReals(mlir::Value value,
                                                     llvm::StringRef what);
  /// Reports that the layer needs `what` that are known at compile time, unlike
  /// `value`, and how the user can provide them. Returns null.
  mlir::Value needsKnown(mlir::Value value, const llvm::Twine &what);
  /// Returns `axis` counted from the front, or nullopt if it is not in
  /// [-rank, rank), which is reported.
  std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank);
  /// Replaces negative axes by the equivalent non-negative ones. Returns false
  /// after an error if an axis is not in [-rank, rank) or occurs twice.
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
  /// Creates an op with the given result type. Returns null after an error if
  /// the size of that type exceeds nnc's limits.
  template <class Op, class... Args>
  mlir::Value createAs(mlir::Type type, Args... args) {
    if ((isNull(args) || ...) || !checkSize(type))
      return {};
    mlir::OperationState state(loc, Op::getOperationName());
    Op::build(builder, state, type, args...);
    return insert(state);
  }
  /// Creates the elementwise op with the name `op`.
  mlir::Value createElementwise(llvm::StringRef op,
                                llvm::ArrayRef<mlir::Value> operands,
                                llvm::ArrayRef<mlir::NamedAttribute> = {});
  mlir::Value constant(mlir::ElementsAttr value);
  mlir::Value constant(llvm::ArrayRef<int64_t> values); ///< a vector of i64
  /// Creates a constant of `shape` whose elements are all `value`.
  mlir::Value splat(mlir::TypedAttr value, llvm::ArrayRef<int64_t> shape);
  mlir::Value splat(double value, mlir::Type element,
                    llvm::ArrayRef<int64_t> shape = {});
  /// Creates a constant without elements that is also empty in imports at other
  /// data-dependent sizes.
  mlir::Value alwaysEmpty(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value castTo(mlir::Value x, mlir::Type element);
  /// Returns the floats `x`, rounded to 16-bit floats of the type `half`, as
  /// float32.
  mlir::Value roundToHalf(mlir::Value x, mlir::FloatType half);

  /// Returns true if nnc supports results of this type and size; otherwise
  /// reports why not. `isMade` tells that the importer creates the result from
  /// a few numbers in the file, for which a lower limit holds.
  bool checkSize(mlir::Type type, bool isMade = false);

  /// Returns the limits on the size of the model.
  const Limits &getLimits() const { return problems.getLimits(); }

  /// Calls `infer`, which emits a diagnostic and fails if operands do not fit.
  /// If it fails, reports the diagnostic as a problem of the layer and returns
  /// false.
  bool check(llvm::function_ref<mlir::LogicalResult()> infer);

  // Reporting errors. The text completes a sentence that starts with the
  // operator. All functions return null.

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
  /// Returns true if `op`, which has just been built, passes its verifier;
  /// otherwise reports an error of the layer.
  bool isSound(mlir::Operation *op);
  mlir::Value insert(mlir::OperationState &state);

  mlir::OpBuilder &builder;
  Problems &problems;
  mlir::Location loc;
  llvm::StringRef op;

protected:
  bool keepsEmpty = false;
};

// Properties of the types of values; empty, 0 or null for null values.
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
/// Returns the name of `value` if it is an input of the network, otherwise
/// null.
mlir::StringAttr getInputName(mlir::Value value);
/// Returns 0, 1, ... count - 1.
llvm::SmallVector<int64_t> iota(int64_t count);
/// Returns the product of sizes.
int64_t product(llvm::ArrayRef<int64_t> sizes);

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_LAYERBUILDER_H
