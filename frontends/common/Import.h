//===- Import.h - What an import is given and what it returns -------------===//
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
  std::string text;  ///< numbers with commas in between, or the file's name
  std::string dtype; ///< of the file, such as "i64"; empty without one
  std::vector<int64_t> shape; ///< of the file
  std::vector<char> bytes;    ///< of the file, row-major
};
using GivenValues = std::map<std::string, GivenValue>;

/// A C function of the user's for an operator that nnc lacks.
struct CustomFunction {
  std::string op;      ///< the operator's name in the model
  std::string header;  ///< name of the file that declares the function
  std::string name;    ///< of the function
  int64_t scratch = 0; ///< bytes that the function works in
};

/// How fixed-point products of quantized TFLite models round.
enum class TfliteRounding {
  twice, ///< as by TFLite Micro
  once,  ///< as by TFLite built for one rounding
  litert ///< as by LiteRT's reference kernels: dense layers once, others twice
};

/// A size of tensors that is known only when the network runs: 0 to `most`.
struct FoundSize {
  std::string name; ///< of the first tensor that has it
  int64_t most;
  /// The number of another such size that is never smaller.
  std::optional<unsigned> within = std::nullopt;
  /// The numbers of the sizes that it is computed from, in the order in which
  /// the computation reads them; none for one that an operator counts. In front
  /// of a number that is fixed though it looks like a size is one that no size
  /// has.
  std::vector<unsigned> bases = {};
  /// How it is computed from sizes before it; null for one that an operator
  /// counts.
  LengthExpression expression = {};
};

struct ImportOptions {
  /// Sizes of the inputs whose dimensions the model leaves open.
  GivenShapes shapes;
  /// Name of the emitted module; empty: from the file's name.
  std::string name;
  /// A second folder to search for external data files; the first one is the
  /// folder of the model. Empty if there is none.
  std::string externalData;
  TfliteRounding tfliteRounding = TfliteRounding::twice;
  /// Functions for operators that nnc lacks.
  std::vector<CustomFunction> customs = {};
  /// Values of the first of the sizes that data decide; others are the largest.
  std::vector<int64_t> foundSizes = {};
  /// Whether the model is imported at several sizes, at which it should be one
  /// network.
  bool isSample = false;
  /// Values of inputs that become constants.
  GivenValues values = {};
  Limits limits = {};
  /// The input that is read frame by frame; empty if none is or it is the only
  /// one. A name that no input has is reported with other wrong names.
  std::string streamed = "";
  /// The name that messages give to `shapes` if these are only tried
  /// (SizeGuesses.h); else empty. Shapes that do not fit are a warning then.
  std::string trial = "";
  /// The samples along the first dimension of all inputs, which the model has
  /// to leave open and of which `shapes` give one; 0 where inputs hold no
  /// batch.
  int64_t batch = 0;
  /// Whether inputs of which only the number of samples is open hold one.
  bool takesOneSample = false;
  /// The sizes that data decide where these are largest, for a sample of them:
  /// it has the same ones. None are for an import that finds them.
  std::vector<FoundSize> expectedSizes = {};
};

/// How an import ended. If a model has several problems, the status is that of
/// the severest: fault, broken, unsupported, limit, unbound, in this order.
enum class ImportStatus {
  ok,
  broken,      ///< the file is not a sound model
  unsupported, ///< the model is sound, but it needs what nnc lacks
  unbound,     ///< open dimensions, or shapes given that do not fit the model
  limit,       ///< the model is larger than nnc handles
  fault,       ///< nnc's own mistake
};

struct ImportResult {
  /// One `func.func @main` of nn and qnn ops on static shapes; null unless the
  /// status is ok. The context owns the bytes of the weights, so that the file
  /// is not needed any more.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ImportStatus status = ImportStatus::ok;
  /// The model's own metadata entries.
  std::vector<std::pair<std::string, std::string>> metadata;
  /// The model's names of the dimensions of its inputs, by input; empty where a
  /// dimension has none.
  std::map<std::string, std::vector<std::string>> dimNames = {};
  /// Files beside the model that its weights were read from.
  std::vector<std::string> dataFiles = {};
  /// Sizes that data decide. The last results of the function tell them; each
  /// of these has the attribute nn.size with the number of the size.
  std::vector<FoundSize> foundSizes = {};
  /// Shapes of one sample that inputs were given by
  /// ImportOptions::takesOneSample.
  GivenShapes samples = {};
  /// Inputs with open dimensions, which have been reported.
  std::vector<TensorInfo> open = {};
  /// The model with sizes tried for these, if these let it be imported.
  mlir::OwningOpRef<mlir::ModuleOp> trial = {};
};

} // namespace nnc::frontends

#endif // NNC_FRONTENDS_COMMON_IMPORT_H
