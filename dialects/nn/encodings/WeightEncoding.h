//===- WeightEncoding.h - The stored form of a weight ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A weight encoding computes, from the elements of a constant, the values that
// a routine reads instead of them: filters transformed for Winograd's method,
// sums for Strassen's, places in tables. Each encoding is a class in a file
// of its own in dialects/nn/encodings/, and a line of encodings.inc there.
//
// Its spelling stands behind the blocks in a layout's name, as in
// #nn.layout<KRSC16k_winograd4>; as an attribute it is #nn.encoding<winograd4>.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_ENCODINGS_WEIGHTENCODING_H
#define NNC_DIALECTS_NN_ENCODINGS_WEIGHTENCODING_H

#include "dialects/nn/tensors/TensorData.h"

#include <memory>

namespace nnc::nn {

class WeightEncoding {
public:
  using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

  explicit WeightEncoding(llvm::StringRef spelling) : spelling(spelling) {}
  virtual ~WeightEncoding() = default;

  /// Returns the encoding with this spelling, or null if there is none. All
  /// calls return the same object.
  static const WeightEncoding *get(llvm::StringRef spelling);

  /// Returns the names of all weight encodings as one list for messages:
  /// "int4, strassen, ...".
  static llvm::StringRef listSpellings();

  llvm::StringRef getSpelling() const { return spelling; }

  /// Succeeds if weights with the axes and blocks of `layout`, which has no
  /// encoding, can be encoded. Otherwise the error continues a sentence that
  /// begins with the layout's name.
  virtual mlir::LogicalResult verifyBlocks(LayoutAttr layout,
                                           EmitError emitError) const = 0;

  /// Returns true if only the weights of convolutions over two spatial axes can
  /// be encoded, not those over one axis.
  virtual bool needsRows() const { return false; }

  /// Returns true if weights of this element type can be encoded.
  virtual bool takes(mlir::Type element) const {
    return element.isF32() || element.isF16();
  }

  /// Succeeds if a weight with this layout, logical shape and element type can
  /// be encoded. verifyBlocks() has succeeded for the layout and takes() for
  /// the element type. Otherwise the error continues a sentence as that of
  /// verifyBlocks() does.
  virtual mlir::LogicalResult verify(LayoutAttr layout,
                                     llvm::ArrayRef<int64_t> shape,
                                     mlir::Type element,
                                     EmitError emitError) const = 0;

  /// Returns the type of the tensor that is stored in place of a weight of
  /// `type`. Its layout has no encoding, and its elements have the size of the
  /// weight's elements.
  virtual mlir::RankedTensorType
  getStoredType(mlir::RankedTensorType type) const = 0;

  /// Computes the elements of the stored tensor, of type getStoredType(type),
  /// from the elements of the weight. Both are row-major. For a weight of
  /// 16-bit floats, the caller rounds the results to 16-bit floats; for a
  /// weight of bytes, the results are integers that a byte can hold.
  virtual void encode(mlir::RankedTensorType type, llvm::ArrayRef<float> weight,
                      llvm::MutableArrayRef<float> stored) const = 0;

  /// Returns the smallest number of consecutive indices of the weight's first
  /// axis that can be encoded independently of the others; their encoded
  /// elements are contiguous. Large weights are encoded in such parts, which
  /// takes less memory.
  virtual int64_t getIndependentRows(mlir::RankedTensorType type) const;

  /// Returns the value of --weights-encoding that selects this encoding, or ""
  /// if the encoding does not reduce the size of weights.
  virtual llvm::StringRef getKind() const { return ""; }

  /// Returns the relative error of the encoding: the root mean square of the
  /// differences between stored and original elements, divided by the root mean
  /// square of the original elements. It is infinite if the encoding cannot
  /// represent the elements. The rounding error of the arithmetic on
  /// transformed weights is not included; each routine states it in the table
  /// of its family (runtime/routines/).
  virtual double getError(mlir::RankedTensorType, const TensorData &) const {
    return 0;
  }

  /// Returns true if whether the encoding can represent a weight is a matter of
  /// the weight's values, so that one whose values are not known must not be
  /// encoded.
  virtual bool needsValues() const { return false; }

private:
  std::string spelling;
};

/// Splits a layout's name into its axes with their blocks and the encoding
/// behind `_`. If there is no `_`, or if no encoding has the spelling behind
/// it, returns the whole name and null.
std::pair<llvm::StringRef, const WeightEncoding *>
splitLayoutName(llvm::StringRef name);

/// Writes `weight` as the compiled model stores it in the layout of `type`:
/// getPhysicalBytes(type) bytes, packed and, if the layout has an encoding,
/// encoded.
void storeWeight(mlir::RankedTensorType type, const TensorData &weight,
                 char *stored);

/// Declares, for each line of encodings.inc, the function that makes the
/// encoding with this spelling, or returns null if that class has no such
/// spelling.
#define NNC_WEIGHT_ENCODING(NAME, SPELLINGS)                                   \
  std::unique_ptr<WeightEncoding> make##NAME##Encoding(                        \
      llvm::StringRef spelling);
#include "dialects/nn/encodings/encodings.inc"
#undef NNC_WEIGHT_ENCODING

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ENCODINGS_WEIGHTENCODING_H
