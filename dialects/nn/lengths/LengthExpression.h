//===- LengthExpression.h - Numbers computed from lengths -------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_DIALECTS_NN_LENGTHS_LENGTHEXPRESSION_H
#define NNC_DIALECTS_NN_LENGTHS_LENGTHEXPRESSION_H

#include "mlir/IR/Attributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>

namespace nnc::nn {

/// A whole number that is computed from lengths which data decide, each known
/// by its number (frontends/common/Lengths.h); or null, one that is not known.
/// Results of comparisons are 0 and 1.
class LengthExpression {
public:
  enum class Kind {
    constant,
    length,
    add,
    sub,
    mul,
    div, ///< of a number that is not negative by a positive constant
    mod, ///< likewise
    min,
    max,
    less,
    equal,
    select ///< the second operand where the first is not 0, else the third
  };
  /// The largest magnitude of a number: larger ones are replaced by it. The
  /// product of two such numbers fits in 64 bits.
  static constexpr int64_t kMost = int64_t(1) << 31;

  /// Lengths of higher numbers are not known to expressions.
  static constexpr unsigned kMostLengths = 64;

  LengthExpression() = default;
  LengthExpression(int64_t constant);
  static LengthExpression getLength(unsigned number);
  static LengthExpression create(Kind kind,
                                 llvm::ArrayRef<LengthExpression> operands);

  explicit operator bool() const { return bool(node); }
  /// Whether both are written alike.
  bool operator==(const LengthExpression &other) const;

  std::optional<int64_t> getConstant() const;
  /// Returns the number of the length that it is, if it is one.
  std::optional<unsigned> getLength() const;
  /// Returns the numbers of the lengths in it, one bit each.
  uint64_t getLengths() const;
  /// Returns a number that divides it at all lengths; 0 for the constant 0.
  int64_t getDivisor() const;
  /// Whether it is a sum or a product of lengths and constants.
  bool isSum() const;
  int64_t evaluate(llvm::ArrayRef<int64_t> lengths) const;

  Kind getKind() const;
  /// Returns a constant, or the number of a length.
  int64_t getNumber() const;
  llvm::ArrayRef<LengthExpression> getOperands() const;

  /// Returns the expression as an attribute: an integer, or a list of the name
  /// of the kind and its operands.
  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
  /// Returns the expression that an attribute describes; null if it is none.
  static LengthExpression fromAttribute(mlir::Attribute attribute);

  /// Bounds of a number while each length is within bounds of its own.
  struct Bounds {
    int64_t low, high;
    bool isLinear; ///< whether the number is a linear function there
  };
  Bounds getBounds(llvm::ArrayRef<Bounds> lengths) const;

private:
  struct Node;
  std::shared_ptr<const Node> node;
};

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LENGTHS_LENGTHEXPRESSION_H
