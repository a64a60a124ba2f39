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

/// A weight is stored in a smaller form if that saves at least so many bytes:
/// the decoder's code takes a few hundred, which all weights of a form share.
inline constexpr int64_t kLeastSaved = 64;

/// The aim for which forms of weights are looked for.
enum class FormAim {
  time,  ///< few seconds; bytes count for weights of kByteWeightsAttr alone
  bytes, ///< the smallest form of each weight
  both,  ///< bytes have a price
};

/// The kinds of forms that a module's weights may have.
struct FormRules {
  FormAim aim = FormAim::time;
  /// The kinds of forms besides the weight as it is.
  llvm::SmallVector<stored::StoredKind> kinds;
};

/// A layer of a function that reads a weight.
struct WeightReader {
  size_t function = 0; ///< the index of its function
  nn::LayerOp layer;
  unsigned operand = 0;
  llvm::ArrayRef<Candidate> candidates;
  const CostModel *cost = nullptr;
  /// The bytes into which the weight can be decoded for the layer without that
  /// the model needs more memory, and within its limit of memory.
  int64_t room = 0, limit = 0;

  mlir::OpOperand &getUse() const {
    return nn::LayerOp(layer)->getOpOperand(operand);
  }
};

/// A way to store a weight that layers want as one type.
struct WeightForm {
  mlir::RankedTensorType type;
  int64_t bytes = 0;
  /// Whether the weight can be stored so.
  bool exists = false;
  /// Null where the weight is stored as it is.
  std::shared_ptr<const StoredMatrix> stored;
  /// The routine that decodes the weight for each reader, if one does, and its
  /// seconds.
  const Routine *decoder = nullptr;
  double decodeSeconds = 0;
  /// The products that the readers, in order, compute with the stored bytes, if
  /// they are dense layers. If the weight is not decoded either, the readers
  /// decode strips of filters.
  llvm::SmallVector<StoredProduct> products;
  /// Whether bytes and time are those of the weight in row-major order.
  bool isEstimate = false;
};

/// The ways to store a weight, for each type that candidates of its readers
/// want it as.
class WeightForms {
public:
  WeightForms(std::vector<WeightReader> readers, const FormRules &rules);

  llvm::ArrayRef<WeightReader> getReaders() const { return readers; }
  llvm::MutableArrayRef<WeightReader> getReaders() { return readers; }
  /// Whether the model has it as integers of 8 bits, of which it makes floats
  /// (kByteWeightsAttr).
  bool isOfBytes() const { return ofBytes; }
  /// Whether there can be a form besides the weight as it is.
  bool mayHaveForms() const;
  /// Whether forms may need memory to be decoded into.
  bool mayDecode() const { return rules.aim != FormAim::time || ofBytes; }

  /// Finds the forms of all types. Those of `likely` are exact; forms of others
  /// may be estimates, as packing a weight in every layout takes a while.
  void find(const llvm::DenseSet<mlir::Type> &likely);
  /// Makes the forms of a type exact. Returns whether they were estimates.
  bool refine(mlir::RankedTensorType type);

  /// The types that candidates want, each with its forms, of which there are as
  /// many for each type; the first form is the weight as it is.
  const llvm::MapVector<mlir::RankedTensorType, std::vector<WeightForm>> &
  getForms() const {
    return forms;
  }
  /// Whether a form of this type was left out because nothing decodes it in the
  /// memory that there is.
  bool lacksRoom(mlir::RankedTensorType type) const {
    return roomless.contains(type);
  }
  /// The value that the weight of a type has: its own, or that of other forms
  /// of layers.
  mlir::ElementsAttr getValue(mlir::Type type) const {
    return constants.lookup(type);
  }
  /// The name of the weight in the model.
  llvm::StringRef getName() const { return name; }
  /// Whether forms were looked for and there is none but the weight as it is.
  bool hasNone(mlir::RankedTensorType type) const;

  /// Returns the seconds that a candidate of a reader takes more with the form
  /// than with the weight as it is, or nothing where it cannot read the form.
  std::optional<double> getExtraSeconds(const WeightForm &form, size_t reader,
                                        const Candidate &candidate) const;

  /// Lets the readers of `constant`, which is the weight as the type of `form`,
  /// read or decode the stored bytes instead, and erases the constant.
  void apply(nn::ConstantOp constant, const WeightForm &form);

private:
  void findProducts();
  /// Elements in the order of a type, and the forms of them, by kind.
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
  std::vector<WeightForm> products; ///< of any type
  /// The forms of the weight in row-major order.
  llvm::DenseMap<std::pair<mlir::Type, int>, std::optional<stored::StoredForm>>
      inOrder;
  /// The bytes of each form that was applied.
  llvm::DenseMap<const StoredMatrix *, mlir::ElementsAttr> values;
  llvm::MapVector<mlir::RankedTensorType, std::vector<WeightForm>> forms;
};

/// Returns the seconds that stand for those of an extra time of a form: a layer
/// that reads what is stored may take somewhat more than decoding a weight into
/// memory of its size.
double getPricedSeconds(const WeightForm &form, double extra);

} // namespace nnc

#endif // NNC_COMPILER_ROUTINES_WEIGHTFORMS_H
