//===- Support.h - Values that the interfaces of nn speak in --------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_SUPPORT_H
#define NNC_DIALECTS_NN_SUPPORT_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"
#include "mlir/IR/ValueRange.h"
#include "mlir/Support/LLVM.h"

namespace nnc::nn {

/// How an operand of an epilogue lies beside the result: one value for each
/// element, for each channel, one for all, or anything else that broadcasts
/// (elementwise layers only). The first three are runtime/epilogue.h's.
enum class ExtraKind { Full, Channel, Scalar, Broadcast };

/// The kind of an operand of `shape` for a result of shape `result`.
ExtraKind getExtraKind(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> result,
                       std::optional<int64_t> channelAxis);

/// What an op computes, counted on logical shapes.
struct Work {
  int64_t multiplyAdds = 0;
  int64_t operations = 0; ///< everything that is not a multiply-add
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;
};

/// The shape of one call of a family, by the names of the fields in
/// `runtime/routines/<family>/shape.h`. Integers are IntegerAttr (i64), reals
/// FloatAttr (f64), lists DenseI64ArrayAttr, lists of lists ArrayAttr of those.
class ShapeFields {
public:
  explicit ShapeFields(mlir::MLIRContext *context) : builder(context) {}
  ShapeFields &add(llvm::StringRef name, int64_t value) {
    return set(name, builder.getI64IntegerAttr(value));
  }
  ShapeFields &addReal(llvm::StringRef name, double value) {
    return set(name, builder.getF64FloatAttr(value));
  }
  ShapeFields &add(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return set(name, builder.getDenseI64ArrayAttr(values));
  }
  ShapeFields &addRows(llvm::StringRef name,
                       llvm::ArrayRef<llvm::SmallVector<int64_t>> rows) {
    llvm::SmallVector<mlir::Attribute> list;
    for (const auto &row : rows)
      list.push_back(builder.getDenseI64ArrayAttr(row));
    return set(name, builder.getArrayAttr(list));
  }
  mlir::DictionaryAttr get() const {
    return fields.getDictionary(builder.getContext());
  }

private:
  ShapeFields &set(llvm::StringRef name, mlir::Attribute value) {
    fields.set(name, value);
    return *this;
  }
  mutable mlir::Builder builder;
  mlir::NamedAttrList fields;
};

/// One call of a family's routine. `operands` index the op's operands, in the
/// order of the routine's inputs.
struct RoutineCall {
  std::string family;
  mlir::DictionaryAttr fields;
  llvm::SmallVector<unsigned> operands;
};

/// The calls that compute `op`: a layer's, or those of an op that a family of
/// routines computes; none for other ops.
llvm::SmallVector<RoutineCall> getRoutineCalls(mlir::Operation *op);

/// The call of the elementwise family on `operands`, each row-major or in the
/// result's layout, that broadcast to `result`: strides over physical shapes.
RoutineCall getElementwiseCall(mlir::RankedTensorType result,
                               mlir::TypeRange operands);

/// The copy that broadcasts a row-major `operand` to a row-major `result`.
RoutineCall getExpandCall(mlir::RankedTensorType result,
                          mlir::RankedTensorType operand);

/// The call that changes the layout, or nothing where no routine does that:
/// among images any change of the channels' block, else to and from row-major
/// order where nothing is padded.
std::optional<RoutineCall> getAdaptCall(mlir::RankedTensorType from,
                                        mlir::RankedTensorType to);

/// The product of all, 1 of none.
int64_t product(llvm::ArrayRef<int64_t> dims);

/// Whether the types agree in shape and element type; layouts may differ.
bool haveSameLogicalTypes(mlir::TypeRange lhs, mlir::TypeRange rhs);

/// Shape of NumPy broadcasting, or nullopt where the shapes do not fit.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

/// Result type of an elementwise op. `element` is "first", "last" (operand) or
/// "bool". Operands are all tensors or all scalars.
mlir::LogicalResult inferElementwise(std::optional<mlir::Location> location,
                                     mlir::ValueRange operands,
                                     llvm::StringRef element,
                                     llvm::SmallVectorImpl<mlir::Type> &types);

/// The model's name for what lies at `location`: the first within it, or
/// `fallback`.
llvm::StringRef getModelName(mlir::Location location,
                             llvm::StringRef fallback = "");

/// One operation for each element of the result.
Work elementwiseWork(mlir::Operation *op);

/// Bytes of operands and results, no operations.
Work bytesOnly(mlir::Operation *op);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_SUPPORT_H
