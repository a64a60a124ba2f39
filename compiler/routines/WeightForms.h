//===- WeightForms.h - The ways to store a weight -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_ROUTINES_WEIGHTFORMS_H
#define NNC_COMPILER_ROUTINES_WEIGHTFORMS_H

#include "compiler/routines/Candidates.h"
#include "compiler/routines/StoredProducts.h"

#include "llvm/ADT/MapVector.h"

namespace nnc {

/// A weight is stored in a smaller form only if that saves at least this many
/// bytes. The decoder's code takes a few hundred bytes, which all weights of
/// one form share.
inline constexpr int64_t kLeastSaved = 64;

/// The aim of the search for forms of weights.
enum class FormAim {
  time,  ///< least time; bytes count only for weights with kByteWeightsAttr
  bytes, ///< the smallest form of each weight
  both,  ///< least time plus a price of the bytes
};

/// The kinds of forms that a module's weights may have.
struct FormRules {
  FormAim aim = FormAim::time;
  /// The kinds of forms, apart from the unchanged weight.
  llvm::SmallVector<stored::StoredKind> kinds;
};

/// A layer of a function that reads a weight.
struct WeightReader {
  size_t function = 0; ///< the index of its function
  nn::LayerOp layer;
  unsigned operand = 0;
  llvm::ArrayRef<Candidate> candidates;
  const CostModel *cost = nullptr;
  /// The bytes of memory into which the weight can be decoded for the layer:
  /// `room` without raising the model's peak memory, and `limit` without
  /// exceeding its memory limit.
  int64_t room = 0, limit = 0;

  mlir::OpOperand &getUse() const {
    return nn::LayerOp(layer)->getOpOperand(operand);
  }
};

/// A way to store a weight that layers read as the type `type`.
struct WeightForm {
  mlir::RankedTensorType type;
  int64_t bytes = 0;
  /// Whether the weight can be stored this way.
  bool exists = false;
  /// Null if the weight is stored unchanged.
  std::shared_ptr<const StoredMatrix> stored;
  /// The routine that decodes the weight before each reader runs, and its
  /// seconds; null if the readers decode the weight themselves.
  const Routine *decoder = nullptr;
  double decodeSeconds = 0;
  /// The products that the readers, in order, compute with the stored bytes, if
  /// all readers are dense layers. If this is empty and there is no decoder
  /// either, the readers are convolutions that decode strips of filters.
  llvm::SmallVector<StoredProduct> products;
  /// Whether bytes and time were estimated from the weight in row-major order.
  bool isEstimate = false;
};

/// The ways to store a weight, for each type in which candidates of its readers
/// read it.
class WeightForms {
public:
  WeightForms(std::vector<WeightReader> readers, const FormRules &rules);

  llvm::ArrayRef<WeightReader> getReaders() const { return readers; }
  llvm::MutableArrayRef<WeightReader> getReaders() { return readers; }
  /// Returns true if the model stores the weight as 8-bit integers and converts
  /// them to floats (kByteWeightsAttr).
  bool isOfBytes() const { return ofBytes; }
  /// Returns true if the weight may be stored in another form.
  bool mayHaveForms() const;
  /// Returns true if forms may need memory into which the weight is decoded.
  bool mayDecode() const { return rules.aim != FormAim::time || ofBytes; }

  /// Finds the forms of all types. The forms of the types in `likely` are
  /// exact. Others may be estimates, because packing a weight in every layout
  /// is slow.
  void find(const llvm::DenseSet<mlir::Type> &likely);
  /// Makes the forms of a type exact. Returns true if any of them was an
  /// estimate.
  bool refine(mlir::RankedTensorType type);

  /// Returns the types in which candidates read the weight, with the forms of
  /// each. All types have equally many forms, in the same order; the first form
  /// is the unchanged weight.
  const llvm::MapVector<mlir::RankedTensorType, std::vector<WeightForm>> &
  getForms() const {
    return forms;
  }
  /// Returns true if a form of this type was left out because there is no
  /// memory into which to decode it.
  bool lacksRoom(mlir::RankedTensorType type) const {
    return roomless.contains(type);
  }
  /// Returns the elements of the weight in a type: those of the original
  /// constant, or those of the constant that other forms of layers read.
  mlir::ElementsAttr getValue(mlir::Type type) const {
    return constants.lookup(type);
  }
  /// Returns the name of the weight in the model.
  llvm::StringRef getName() const { return name; }
  /// Returns true if the unchanged weight turned out to be the only form of
  /// this type.
  bool hasNone(mlir::RankedTensorType type) const;

  /// Returns the seconds that a candidate of a reader takes with the form minus
  /// those with the unchanged weight, or nothing if it cannot read the form.
  std::optional<double> getExtraSeconds(const WeightForm &form, size_t reader,
                                        const Candidate &candidate) const;

  /// Makes the readers of `constant` read or decode the stored bytes instead,
  /// and erases the constant. `constant` holds the weight in the type of
  /// `form`.
  void apply(nn::ConstantOp constant, const WeightForm &form);

private:
  void findProducts();
  /// The elements of the weight in the order of a type.
  struct Packed {
    mlir::RankedTensorType type;
    llvm::ArrayRef<char> elements;
  };
  std::optional<stored::StoredForm> compress(const Packed &packed,
                                             stored::StoredKind kind);
  WeightForm decode(mlir::RankedTensorType type, const Packed &packed,
                    stored::StoredKind kind);
  WeightForm decodeStrips(mlir::RankedTensorType type, const Packed &packed,
                          stored::StoredKind kind) const;
  void addForms(mlir::RankedTensorType type, bool isExact);
  bool hasRoom(mlir::RankedTensorType type) const;

  std::vector<WeightReader> readers;
  const FormRules &rules;
  bool ofBytes = false;
  llvm::SmallVector<stored::StoredKind> kinds;
  std::string name;
  mlir::ElementsAttr own; ///< the value of the constant that the layers read
  llvm::DenseMap<mlir::Type, mlir::ElementsAttr> constants;
  llvm::DenseSet<mlir::Type> roomless;
  /// Forms of dense layers, which fit any type.
  std::vector<WeightForm> products;
  /// The forms of the weight in row-major order, by type and kind.
  llvm::DenseMap<std::pair<mlir::Type, int>, std::optional<stored::StoredForm>>
      inOrder;
  /// The constants with the bytes of the forms that were applied.
  llvm::DenseMap<const StoredMatrix *, mlir::ElementsAttr> values;
  llvm::MapVector<mlir::RankedTensorType, std::vector<WeightForm>> forms;
};

/// Returns the price of the extra time of a form, in seconds. If the form is
/// decoded into memory of its own, the price is higher than the time, so that
/// layers that read the stored bytes directly may be somewhat slower and still
/// win.
double getPricedSeconds(const WeightForm &form, double extra);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTFORMS_H
