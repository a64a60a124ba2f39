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

/// An integer expression of data-dependent lengths, each of which is identified
/// by a number (frontends/common/Lengths.h). A null expression stands for an
/// unknown value. Comparisons give 0 or 1.
class LengthExpression {
public:
  enum class Kind {
    constant,
    length,
    add,
    sub,
    mul,
    div, ///< quotient of a non-negative number and a positive constant
    mod, ///< remainder, with the same operands as `div`
    min,
    max,
    less,
    equal,
    select ///< the second operand where the first is not 0, else the third
  };
  /// The largest magnitude of a value: results saturate at it. The product of
  /// two such values fits in 64 bits.
  static constexpr int64_t kMost = int64_t(1) << 31;

  /// The number of different lengths that expressions can contain. Expressions
  /// of lengths with higher numbers are unknown (null).
  static constexpr unsigned kMostLengths = 64;

  LengthExpression() = default;
  LengthExpression(int64_t constant);
  static LengthExpression getLength(unsigned number);
  static LengthExpression create(Kind kind,
                                 llvm::ArrayRef<LengthExpression> operands);

  explicit operator bool() const { return bool(node); }
  /// Returns true if both expressions have the same structure.
  bool operator==(const LengthExpression &other) const;

  std::optional<int64_t> getConstant() const;
  /// Returns the number of the length if the expression is a single length,
  /// otherwise nullopt.
  std::optional<unsigned> getLength() const;
  /// Returns the set of lengths in the expression: bit i is set for the length
  /// with number i.
  uint64_t getLengths() const;
  /// Returns a number that divides the value of the expression for all lengths;
  /// 0 for the constant 0.
  int64_t getDivisor() const;
  /// Returns true if the expression is a sum or a product of lengths and
  /// constants.
  bool isSum() const;
  int64_t evaluate(llvm::ArrayRef<int64_t> lengths) const;

  Kind getKind() const;
  /// Returns the value of a constant or the number of a length.
  int64_t getNumber() const;
  llvm::ArrayRef<LengthExpression> getOperands() const;

  /// Returns the expression as an attribute: an integer, or a list of the name
  /// of the kind and its operands.
  mlir::Attribute toAttribute(mlir::MLIRContext *context) const;
  /// Returns the expression that an attribute describes; null if it is none.
  static LengthExpression fromAttribute(mlir::Attribute attribute);

  /// The bounds of an expression's value, given bounds of each length.
  struct Bounds {
    int64_t low, high;
    bool isLinear; ///< whether the value is linear in the lengths
  };
  Bounds getBounds(llvm::ArrayRef<Bounds> lengths) const;

private:
  struct Node;
  std::shared_ptr<const Node> node;
};

} // namespace nnc::nn

#endif // NNC_DIALECTS_NN_LENGTHS_LENGTHEXPRESSION_H
