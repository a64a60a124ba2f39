//===- Plan.h - Which ops and values become integers ------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_QUANTIZE_PLAN_H
#define NNC_COMPILER_QUANTIZE_PLAN_H

#include "dialects/nn/Nn.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace nnc::quantize {

/// The kinds of ops by the way in which they are quantized.
enum class Kind {
  linear,  ///< multiplies by weights, or two activations
  join,    ///< computes with several quantized values
  concat,  ///< moves the elements of several quantized values
  clip,    ///< nn.relu or nn.clip, alone or behind another layer
  average, ///< reads one quantized value; its result has its own range
  move,    ///< moves elements of operand 0, which keep their range
  table,   ///< reads rows of a constant table; only the table is quantized
};

/// An op whose operands and result are quantized, with the ops behind it that
/// compute on its sums before these are rounded: the nn.add of a bias, and an
/// nn.relu or nn.clip.
struct PlannedLayer {
  mlir::Operation *op = nullptr;
  Kind kind = Kind::linear;
  /// The operands that are activations.
  llvm::SmallVector<mlir::Value, 2> inputs;
  int weights = -1;  ///< number of the operand that is weights, or -1; a table
                     ///< is weights, too
  int64_t axis = -1; ///< axis of the weights' channels, or -1
  /// The nn.add of a constant bias, or null.
  mlir::Operation *biasAdd = nullptr;
  llvm::SmallVector<mlir::Operation *, 2> absorbed;
  mlir::Value output;
};

/// An op of a kind that could be quantized, with the reason why it is not.
struct FloatOp {
  mlir::Operation *op;
  std::string reason;
  /// Whether it is a product, or the user excluded it.
  bool isImportant;
};

/// The choices that a user may make.
struct PlanOptions {
  /// Whether results of products that only float ops read stay unrounded.
  bool unrounded = false;
  llvm::StringSet<> exclude; ///< model names of ops that stay float
};

struct Plan {
  std::vector<PlannedLayer> layers; ///< in the order of the ops
  std::vector<FloatOp> floats;
  /// The quantized values, in the order in which they are computed. The flag
  /// tells whether a quantized layer computes the value, in which case all
  /// other readers read the dequantized value, too.
  llvm::MapVector<mlir::Value, bool> values;
  /// For results of layers that only move elements, the value whose range they
  /// take.
  llvm::DenseMap<mlir::Value, mlir::Value> sameAs;
  /// The subset of `values` that stays unrounded because no quantized layer
  /// reads them: results of tables and, with PlanOptions::unrounded, of
  /// products.
  llvm::DenseSet<mlir::Value> unrounded;
};

/// Plans the quantization of a function. `unusable` holds values that cannot be
/// quantized, each with the reason, a predicate that follows the value's name
/// in a sentence.
Plan makePlan(mlir::func::FuncOp function, const PlanOptions &options,
              const llvm::DenseMap<mlir::Value, std::string> &unusable);

/// Returns the model's name of a value: that of the op that computes it, or of
/// the argument.
std::string getName(mlir::Value value);
std::string getName(mlir::Operation *op);
/// Returns the distinct names of all ops of a function that have results.
std::vector<std::string> listNames(mlir::func::FuncOp function);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_PLAN_H
