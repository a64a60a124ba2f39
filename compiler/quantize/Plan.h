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

/// How a kind of op is quantized.
enum class Kind {
  linear,  ///< products with weights, or of two activations
  join,    ///< of several quantized values
  concat,  ///< a join that only moves elements
  clip,    ///< nn.relu and nn.clip, alone or behind another layer
  average, ///< of one quantized value, to a range of its own
  move,    ///< moves elements of operand 0, whose range stays
  table,   ///< reads rows of a table of constants, which alone is quantized
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
  int64_t axis = -1; ///< of the weights' channels, or -1
  mlir::Operation *biasAdd = nullptr; ///< adds a constant for each channel
  llvm::SmallVector<mlir::Operation *, 2> absorbed;
  mlir::Value output;
};

/// An op of a kind that could be quantized, and why it is not.
struct FloatOp {
  mlir::Operation *op;
  std::string reason;
  /// Whether it multiplies by weights, or somebody decided that it stays float.
  bool isImportant;
};

/// The choices that a user may make.
struct PlanOptions {
  bool unrounded = false;    ///< results of products that only float ops read
  llvm::StringSet<> exclude; ///< the model's names of ops that stay float
};

struct Plan {
  std::vector<PlannedLayer> layers; ///< in the order of the ops
  std::vector<FloatOp> floats;
  /// The values that are quantized, in the order in which they are computed,
  /// and whether a quantized layer computes them: all else then reads what is
  /// dequantized.
  llvm::MapVector<mlir::Value, bool> values;
  /// The value that another one takes its range from, for layers that only move
  /// elements.
  llvm::DenseMap<mlir::Value, mlir::Value> sameAs;
  /// Those of `values` that stay unrounded, because no layer reads them:
  /// results of tables, and if that is wanted those of products.
  llvm::DenseSet<mlir::Value> unrounded;
};

/// Plans what to quantize of a function. `unusable` are values that cannot be,
/// each with the reason, which follows its name in a sentence.
Plan makePlan(mlir::func::FuncOp function, const PlanOptions &options,
              const llvm::DenseMap<mlir::Value, std::string> &unusable);

/// Returns the model's name of a value: that of the op that computes it or of
/// the argument.
std::string getName(mlir::Value value);
std::string getName(mlir::Operation *op);
/// Returns the names of all ops of a function that give results, each once.
std::vector<std::string> listNames(mlir::func::FuncOp function);

} // namespace nnc::quantize

#endif // NNC_COMPILER_QUANTIZE_PLAN_H
