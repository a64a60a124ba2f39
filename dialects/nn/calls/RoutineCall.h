//===- RoutineCall.h - The calls of routines that compute an op -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_CALLS_ROUTINECALL_H
#define NNC_DIALECTS_NN_CALLS_ROUTINECALL_H

#include "dialects/nn/attributes/Attributes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeRange.h"

namespace nnc::nn {

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

/// One call of a routine: its family, its shape, and the indices of the op's
/// operands in the order of the routine's inputs.
struct RoutineCall {
  std::string family;
  ShapeAttr fields;
  llvm::SmallVector<unsigned> operands;
};

/// Returns the calls that compute `op`, if it is a layer or an op that a family
/// of routines computes; none for other ops.
llvm::SmallVector<RoutineCall> getRoutineCalls(mlir::Operation *op);

/// Sets `sums` to the element type in which an op accumulates products of
/// elements of the types `a` and `b`: `accumulator`, or if that is absent, the
/// common type of both. Fails if an accumulator is missing or does not fit, and
/// emits an error if `location` is given.
mlir::LogicalResult inferAccumulator(std::optional<mlir::Location> location,
                                     mlir::Type a, mlir::Type b,
                                     std::optional<mlir::Type> accumulator,
                                     mlir::Type &sums);

/// Sets the element type of `type`, the operand's type in an op that computes
/// means, to `accumulator` if that is given. An accumulator has to be f32, and
/// the operand's elements have to be integers. Fails otherwise, and emits an
/// error if `location` is given.
mlir::LogicalResult inferMean(std::optional<mlir::Location> location,
                              std::optional<mlir::Type> accumulator,
                              mlir::Type &type);

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
/// tensors can change from and to row-major order if nothing is padded, and
/// matrices of bytes to layouts of dot products with padding.
std::optional<RoutineCall> getAdaptCall(mlir::RankedTensorType from,
                                        mlir::RankedTensorType to);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_CALLS_ROUTINECALL_H
