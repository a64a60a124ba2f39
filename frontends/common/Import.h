//===- Import.h - Options and result of an import -------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_COMMON_IMPORT_H
#define NNC_FRONTENDS_COMMON_IMPORT_H

#include "frontends/common/LengthExpression.h"
#include "frontends/common/Limits.h"
#include "frontends/common/TensorInfo.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace nnc::frontends {

/// Sizes that the user gives for inputs, by the inputs' names.
using GivenShapes = std::map<std::string, std::vector<int64_t>>;

/// The value that the user gives an input to make it a constant.
struct GivenValue {
  std::string text;  ///< comma-separated numbers, or the name of a file
  std::string dtype; ///< type in the file, such as "i64"; empty without file
  std::vector<int64_t> shape; ///< shape in the file
  std::vector<char> bytes;    ///< contents of the file, row-major
};
using GivenValues = std::map<std::string, GivenValue>;

/// A C function of the user for an operator that nnc does not support.
struct CustomFunction {
  std::string op;      ///< the operator's name in the model
  std::string header;  ///< name of the file that declares the function
  std::string name;    ///< name of the function
  int64_t scratch = 0; ///< scratch memory of the function in bytes
};

/// How fixed-point products in quantized TFLite models are rounded.
enum class TfliteRounding {
  twice, ///< two roundings, as in TFLite Micro
  once,  ///< one rounding, as in TFLite built with single rounding
  litert ///< as by LiteRT's reference kernels: dense layers once, others twice
};

/// A data-dependent size of tensors: a number from 0 to `most` that is known
/// only when the network runs.
struct FoundSize {
  std::string name; ///< name of the first tensor that has this size
  int64_t most;
  /// The number of another data-dependent size that is never smaller than this
  /// one; nullopt if none is known.
  std::optional<unsigned> within = std::nullopt;
  /// The numbers of the sizes from which this size is computed, in the order in
  /// which the computation reads them; empty for a size that an operator
  /// counts. A constant that is equal to a size by chance has two entries: a
  /// marker that is the number of no size, and the constant itself.
  std::vector<unsigned> bases = {};
  /// The size as an expression of sizes with smaller numbers; null for a size
  /// that an operator counts.
  LengthExpression expression = {};
};

struct ImportOptions {
  /// The shapes that the user gives for inputs whose dimensions the model
  /// leaves open.
  GivenShapes shapes;
  /// The name of the emitted module. If it is empty, the file's name determines
  /// it.
  std::string name;
  /// A second folder to search for external data files; the first one is the
  /// folder of the model. Empty if there is none.
  std::string externalData;
  /// The file of weights that belongs to a model whose format keeps them apart,
  /// such as Caffe's, or empty.
  std::string weights = "";
  TfliteRounding tfliteRounding = TfliteRounding::twice;
  /// C functions of the user for operators that nnc does not support.
  std::vector<CustomFunction> customs = {};
  /// Values of the data-dependent sizes with the smallest numbers. All other
  /// data-dependent sizes have their largest values.
  std::vector<int64_t> foundSizes = {};
  /// True if this is one of several imports of the model at different sizes,
  /// which are compared and should give the same network.
  bool isSample = false;
  /// Values of inputs that become constants.
  GivenValues values = {};
  Limits limits = {};
  /// The name of the input that is read frame by frame. It is empty if no input
  /// is, or if the model has only one input. An unknown name is reported with
  /// the other wrong names.
  std::string streamed = "";
  /// The phrase by which messages call `shapes` if these are only guesses
  /// (SizeGuesses.h), otherwise empty. Guessed shapes that do not fit cause a
  /// warning instead of an error.
  std::string trial = "";
  /// The number of samples of the batch along the first dimension of all
  /// inputs; 0 if inputs hold no batch. The model has to leave that dimension
  /// open, and `shapes` give it the size 1.
  int64_t batch = 0;
  /// True if inputs whose only open dimension is the number of samples get one
  /// sample.
  bool takesOneSample = false;
  /// The data-dependent sizes that the import at their largest values found. An
  /// import at other values has the same sizes. Empty for the import that finds
  /// them.
  std::vector<FoundSize> expectedSizes = {};
  /// The name of the signature to compile of a model that has several, such as
  /// a SavedModel of TensorFlow; empty for the default one.
  std::string signature = "";
  /// True if inputs without a shape from the user get the largest sizes that
  /// the model itself allows, where it states bounds (ImportResult::bounds).
  bool takesBounds = false;
  /// True if the sizes of inputs are beyond those that the user asked for, to
  /// learn how shapes depend on them. The model's bounds do not hold for them.
  bool passesBounds = false;
};

/// The sizes that a model allows for a dimension: from `low` to `high`, `step`
/// apart.
struct SizeBound {
  int64_t low, high, step = 1;
};
/// The bounds of each dimension of an input, by the inputs' names.
using SizeBounds = std::map<std::string, std::vector<SizeBound>>;

/// How an import ended. If a model has several problems, the status is that of
/// the severest: fault, broken, unsupported, limit, unbound, in this order.
enum class ImportStatus {
  ok,
  broken,      ///< the file is not a sound model
  unsupported, ///< the model is sound, but nnc lacks a feature it needs
  unbound,     ///< open dimensions, or shapes given that do not fit the model
  limit,       ///< the model is larger than nnc handles
  fault,       ///< nnc's own mistake
};

struct ImportResult {
  /// One `func.func @main` of nn and qnn ops on static shapes; null unless the
  /// status is ok. The context owns the bytes of the weights; the file is no
  /// longer needed.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportStatus status = ImportStatus::ok;
  /// The model's own metadata entries.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The names that the model gives to the dimensions of its inputs, by input.
  /// The name of a dimension may be empty.
  std::map<std::string, std::vector<std::string>> dimNames = {};
  /// The external files from which weights were read.
  std::vector<std::string> dataFiles = {};
  /// The data-dependent sizes. The last results of the function hold their
  /// run-time values, and the attribute nn.size of each such result is the
  /// number of its size.
  std::vector<FoundSize> foundSizes = {};
  /// The shapes with one sample that ImportOptions::takesOneSample gave to
  /// inputs.
  GivenShapes samples = {};
  /// The bounds that the model states for inputs whose shapes the import took
  /// from them because of ImportOptions::takesBounds.
  SizeBounds bounds = {};
  /// The inputs with open dimensions, all of which have been reported.
  std::vector<TensorInfo> open = {};
  /// The model imported with guessed sizes for the open dimensions; null if no
  /// guess succeeds.
  mlir::OwningOpRef<mlir::ModuleOp> trial = {};
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_IMPORT_H
