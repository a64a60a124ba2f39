//===- Support.h - Types and helpers of nn's interfaces -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_SUPPORT_H
#define NNC_DIALECTS_NN_SUPPORT_H

#include "dialects/nn/Attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/Support/LLVM.h"

namespace nnc::nn {

/// How an operand of an epilogue broadcasts to the result: one value per
/// element, one per channel, one for all elements, or any other broadcast (in
/// elementwise layers only). The first three are those of runtime/epilogue.h.
enum class ExtraKind { Full, Channel, Scalar, Broadcast };

/// Returns the kind of an operand of shape `shape` for a result of shape
/// `result`.
ExtraKind getExtraKind(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> result,
                       std::optional<int64_t> channelAxis);

/// The amount of work of an op, counted on logical shapes (without padding).
struct Work {
  int64_t multiplyAdds = 0;
  int64_t operations = 0; ///< everything that is not a multiply-add
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
};

/// Builder of a #nn.shape. The fields are added in the order of the struct in
/// `runtime/routines/<family>/shape.h`.
class ShapeFields {
public:
  explicit ShapeFields(mlir::MLIRContext *context) : builder(context) {}
  ShapeFields &add(llvm::StringRef name, int64_t value) {
    return append(name, builder.getI64IntegerAttr(value));
  }
  ShapeFields &addReal(llvm::StringRef name, double value) {
    return append(name, builder.getF64FloatAttr(value));
  }
  ShapeFields &add(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return append(name, builder.getDenseI64ArrayAttr(values));
  }
  ShapeFields &addRows(llvm::StringRef name,
                       llvm::ArrayRef<llvm::SmallVector<int64_t>> rows) {
    llvm::SmallVector<mlir::Attribute> list;
    for (const auto &row : rows)
      list.push_back(builder.getDenseI64ArrayAttr(row));
    return append(name, builder.getArrayAttr(list));
  }
  ShapeAttr get() const { return ShapeAttr::get(builder.getContext(), fields); }

private:
  ShapeFields &append(llvm::StringRef name, mlir::Attribute value) {
    fields.push_back(builder.getNamedAttr(name, value));
    return *this;
  }
  mlir::Builder builder;
  llvm::SmallVector<mlir::NamedAttribute> fields;
};

/// One call of a routine of a family. `operands` are indices of the op's
/// operands, in the order of the routine's inputs.
struct RoutineCall {
  std::string family;
  ShapeAttr fields;
  llvm::SmallVector<unsigned> operands;
};

/// Returns the calls that compute `op`, if it is a layer or an op that a family
/// of routines computes; none for other ops.
llvm::SmallVector<RoutineCall> getRoutineCalls(mlir::Operation *op);

/// Returns the call of the elementwise family on `operands`, which broadcast to
/// `result` and are row-major or in the layout of `result`. Its dimensions and
/// strides are those of physical shapes.
RoutineCall getElementwiseCall(mlir::RankedTensorType result,
                               mlir::TypeRange operands);

/// Returns the copy call that broadcasts a row-major `operand` to a row-major
/// `result`.
RoutineCall getExpandCall(mlir::RankedTensorType result,
                          mlir::RankedTensorType operand);

/// Returns the call that changes the layout from `from` to `to`, or nullopt if
/// no routine does. Images can change between any two channel blocks; other
/// tensors can change from and to row-major order if nothing is padded.
std::optional<RoutineCall> getAdaptCall(mlir::RankedTensorType from,
                                        mlir::RankedTensorType to);

/// Returns the product of `dims`; the empty product is 1.
int64_t product(llvm::ArrayRef<int64_t> dims);

/// Returns true if the types agree in shape and element type; layouts may
/// differ.
bool haveSameLogicalTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Returns the shape that `shapes` broadcast to by NumPy's rules, or nullopt if
/// they are incompatible.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Infers the result type of an elementwise op. `element` selects its element
/// type: that of the "first" or "last" operand, or "bool". The operands are all
/// tensors or all scalars.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands,
                                     llvm::StringRef element,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// Returns the model's name for what lies at `location`, which is the first
/// name within the location, or `fallback` if it has none.
llvm::StringRef getModelName(mlir::Location location,
                             llvm::StringRef fallback = "");

/// Returns the work of an op that does one operation per element of its result.
Work elementwiseWork(mlir::Operation *op);

/// Returns the work of an op that reads its operands and writes its results and
/// computes nothing.
Work bytesOnly(mlir::Operation *op);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_SUPPORT_H
