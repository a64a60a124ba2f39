//===- WeightEncoding.h - The stored form of a weight ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
// A weight encoding computes, from the elements of a constant, the values that
// a routine reads instead of them: filters transformed for Winograd's method,
// sums for Strassen's, integers with scales. Each encoding is a class in a file
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

  /// The encoding with this spelling, the same object each time; null if there
  /// is none.
  static const WeightEncoding *get(llvm::StringRef spelling);

  /// Returns the names of all weight encodings as one list for messages:
  /// "int24, strassen, ...".
  static llvm::StringRef listSpellings();

  llvm::StringRef getSpelling() const { return spelling; }

  /// Succeeds if weights with the axes and blocks of `layout`, which has no
  /// encoding, can be encoded. Otherwise the error continues a sentence that
  /// begins with the layout's name.
  virtual mlir::LogicalResult verifyBlocks(LayoutAttr layout,
                                           EmitError emitError) const = 0;

  /// Returns true if the weights have to have rows: those of convolutions along
  /// one axis cannot be encoded.
  virtual bool needsRows() const { return false; }

  /// Whether weights of this element type can be encoded.
  virtual bool takes(mlir::Type element) const {
    return element.isF32() || element.isF16();
  }

  /// The same as verifyBlocks(), which has succeeded, of a weight with this
  /// logical shape and elements that takes() allows.
  virtual mlir::LogicalResult verify(LayoutAttr layout,
                                     llvm::ArrayRef<int64_t> shape,
                                     mlir::Type element,
                                     EmitError emitError) const = 0;

  /// The tensor that is stored in the place of a weight of `type`. Its layout
  /// has no encoding, its elements have the size of the weight's.
  virtual mlir::RankedTensorType
  getStoredType(mlir::RankedTensorType type) const = 0;

  /// Computes each element of getStoredType(type) from those of the weight.
  /// Both are row-major. What halves become is rounded to halves afterwards;
  /// what bytes become are numbers that bytes hold.
  virtual void encode(mlir::RankedTensorType type, llvm::ArrayRef<float> weight,
                      llvm::MutableArrayRef<float> stored) const = 0;

  /// The least number of consecutive indices of the weight's first axis that
  /// can be encoded without the others: what is stored of them stands together.
  /// Large weights are encoded in such parts, which takes less memory.
  virtual int64_t getIndependentRows(mlir::RankedTensorType type) const;

  /// Bits that are left of a float: 32 if the encoding itself rounds nothing
  /// away.
  virtual int getBits() const { return 32; }

  /// How --weights-encoding calls encodings of this kind, which hold weights in
  /// fewer bytes, or "".
  virtual llvm::StringRef getKind() const { return ""; }

  /// Root mean square of what storing changes of the weight's elements, over
  /// that of the elements; infinity if the encoding cannot hold them. What the
  /// arithmetic on transformed weights loses counts for the routine, in its
  /// entry of the table of its family (runtime/routines/).
  virtual double getError(mlir::RankedTensorType, const TensorData &) const {
    return 0;
  }

private:
  std::string spelling;
};

/// The two parts of a layout's name: axes with their blocks, and the encoding
/// behind `_`. Without a `_`, or with something behind it that spells no
/// encoding, the first part is the whole name and the encoding is null.
std::pair<llvm::StringRef, const WeightEncoding *>
splitLayoutName(llvm::StringRef name);

/// Writes what the compiled model stores of `weight` in the layout of `type`:
/// getPhysicalBytes(type) bytes, packed and, if the layout says so, encoded.
void storeWeight(mlir::RankedTensorType type, const TensorData &weight,
                 char *stored);

/// Declares, for each line of encodings.inc, the function that makes the
/// encoding with this spelling, or returns null if the spelling is not one of
/// its own.
#define NNC_WEIGHT_ENCODING(NAME, SPELLINGS)                                   \
  std::unique_ptr<WeightEncoding> make##NAME##Encoding(                        \
      llvm::StringRef spelling);
#include "dialects/nn/encodings/encodings.inc"
#undef NNC_WEIGHT_ENCODING

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_ENCODINGS_WEIGHTENCODING_H
