//===- Layout.h - Physical shapes of tensor types -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LAYOUTS_LAYOUT_H
#define NNC_DIALECTS_NN_LAYOUTS_LAYOUT_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace nnc::nn {
class LayoutAttr;
class WeightEncoding;

/// The largest number of axes of a tensor, and the largest number of operands
/// of an elementwise layer. The shape structs in runtime/ have room for as
/// many; dialects/shapes checks that.
inline constexpr int64_t kMaxRank = 8, kMaxElementwiseOperands = 8;

/// Returns the type of a value that is a tensor, as all values of `nn` are.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType());
}

/// Returns the product of `dims`; the empty product is 1.
int64_t product(llvm::ArrayRef<int64_t> dims);

/// Returns the layout of a type without its device, or null for row-major
/// order.
LayoutAttr getLayout(mlir::Type type);

/// Returns the name of the device on which a tensor of this type lies; empty
/// for the host.
llvm::StringRef getDevice(mlir::Type type);

/// Returns the name of the layout of `type`, "plain" for row-major types.
std::string getLayoutName(mlir::Type type);

/// Returns true if the layout of `type` has a weight encoding. The bytes in
/// memory are not the tensor's elements then, and neither packElements() nor an
/// nn.adapt can produce them.
bool isEncoded(mlir::Type type);

/// Returns `type` with the layout `layout`, or in row-major order if `layout`
/// is null. The device remains the same unless `layout` names another.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// Returns `type` with the layout of this name; "plain", "any" and "" mean
/// row-major order.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  llvm::StringRef layout);

/// Returns `type` in row-major order, on the same device.
mlir::RankedTensorType inRowMajor(mlir::RankedTensorType type);

/// Returns `type` with the same layout on another device; an empty name stands
/// for the host.
mlir::RankedTensorType onDevice(mlir::RankedTensorType type,
                                llvm::StringRef device);

/// Returns `type` without its layout: in row-major order on the host.
mlir::RankedTensorType getLogicalType(mlir::RankedTensorType type);

/// Returns the dimensions in memory, padding included.
llvm::SmallVector<int64_t> getPhysicalShape(mlir::RankedTensorType type);

/// Returns the number of elements or bytes in memory, padding included.
int64_t getPhysicalElements(mlir::RankedTensorType type);
int64_t getPhysicalBytes(mlir::RankedTensorType type);

/// Returns true for floats of 16 bits, f16 and bf16. Vectors and expressions
/// compute with them as f32.
inline bool isHalf(mlir::Type type) { return type.isF16() || type.isBF16(); }

/// Returns true for f32 and for the 16-bit floats, on which routines compute in
/// f32.
inline bool isComputedAsFloat(mlir::Type type) {
  return type.isF32() || isHalf(type);
}

/// Bytes of one element in memory (i1 takes a byte).
int64_t getElementBytes(mlir::Type element);

/// Returns true if all of `types` and `andThis` are row-major.
bool areRowMajor(llvm::ArrayRef<mlir::RankedTensorType> types,
                 mlir::RankedTensorType andThis);

/// Returns true if the memory of `from`, read as `to`, holds the same tensor:
/// both are on one device, the elements are in the same order, and only padding
/// at the end is lost.
bool isViewOf(mlir::RankedTensorType to, mlir::RankedTensorType from);

/// Returns the physical dimension that counts the blocks of logical `axis`.
unsigned getOuterDim(mlir::RankedTensorType type, unsigned axis);

/// Returns the number of indices of logical `axis` in one block: 1 for
/// row-major types.
int64_t getBlockSize(mlir::RankedTensorType type, unsigned axis);

/// Returns true if a block of `type` is padded.
bool isPadded(mlir::RankedTensorType type);

/// Returns how the layout `layout` of 2-D images or of their weights is spelled
/// for a tensor with one spatial axis: NCHW16c on rank 3 is NCW16c.
std::string spellImageLayout(llvm::StringRef layout, mlir::Type type);

/// Returns `layout` with its axes renumbered: its axis i becomes axis axes[i]
/// of a tensor of rank `rank`. Axes that it does not name become the outermost
/// ones, in order.
std::string renameAxes(llvm::StringRef layout, llvm::ArrayRef<unsigned> axes,
                       unsigned rank, mlir::MLIRContext *context);

/// Copies `source`, which is row-major with the logical shape of `type`, to
/// `target` in the layout of `type`, which has no encoding. Padding becomes
/// zero. `target` has getPhysicalBytes(type) bytes.
void packElements(mlir::RankedTensorType type, const char *source,
                  char *target);

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LAYOUTS_LAYOUT_H
