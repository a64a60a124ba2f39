//===- Compressor.h - Compression of a model's weights ----------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_COMPILER_COMPRESSION_COMPRESSOR_H
#define NNC_COMPILER_COMPRESSION_COMPRESSOR_H

#include "compiler/compression/LayerInputs.h"
#include "compiler/compression/SecondOrder.h"
#include "dialects/nn/stored_weights/forms/StoredSizes.h"

#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace nnc::compression {

struct Options {
  /// Fraction of each layer's weights that become zero.
  std::optional<double> sparsity;
  std::optional<compression::Pattern> pattern;
  /// The largest number of distinct values of a layer's weights, or 0 for any
  /// number.
  int clusters = 0;
  /// The number of rows of the weight matrix, one for each output channel, that
  /// share a table of values, or 0 for all.
  int64_t block = 0;
  /// Whether weights are chosen by their effect on the results of layers
  /// (second order), for which the inputs of the layers are observed.
  bool isSecondOrder = false;
  std::set<std::string> exclude; ///< names of nodes whose weights stay
};

/// How a layer's weights are compressed: `asked` follows the options, `finer`
/// follows them but with kMostValues clusters, and `none` keeps the weights.
enum class Treatment { asked, finer, none };

/// A constant by which one or several layers multiply.
struct WeightSummary {
  std::string name;
  std::vector<std::string> nodes; ///< names of the nodes that read it
  std::string op;                 ///< operator of the first node
  stored::MatrixShape shape;
  Treatment treatment = Treatment::asked;
  /// The reason why the inputs of the layer are not observed, in which case
  /// weights are chosen by their magnitudes; "" if they are observed.
  std::string unobserved;
};

/// A constant that is not compressed, with the reason.
struct LeftSummary {
  std::string name, node, op, reason;
  bool isFinite = true;
};

/// The size and the errors of the compressed weights of a layer.
struct CompressedSizes {
  stored::StoredSizes stored;
  /// The root mean square of the differences from the model's own weights,
  /// relative to that of these. For integers, it is that of the real numbers
  /// that they represent.
  double error = 0;
  /// The errors of the layers' results; nullopt if their inputs were not
  /// observed.
  std::optional<compression::OutputErrors> outputErrors;
  /// Whether these errors take the correlations between all columns of the
  /// inputs into account.
  bool isDense = true;
};

/// The names of two outputs of the model of printErrors(): the squared norm of
/// a layer's result with its own weights, and that of its change if only this
/// weight is compressed.
struct ObservedError {
  size_t weight; ///< number of the weight
  std::string signal, noise;
};

/// One use of a weight: the input tensor of the layer, by the name that the
/// compressor gives it, and which vectors of that tensor are multiplied by the
/// rows of the weight.
struct ObservedUse {
  std::string tensor;
  LayerInputs vectors;
};

/// The reason to report if several layers read a weight with different matrix
/// forms, so that the inputs of the weight cannot be observed.
inline constexpr const char *kDifferentForms =
    "is read by nodes that sum over different axes or groups of it";

/// A model whose weights are being compressed. This class does not run the
/// model. Derived classes read and write models of different formats.
class Compressor {
public:
  Compressor(const Compressor &) = delete;
  virtual ~Compressor();

  /// Returns the names of all nodes of the file.
  const std::vector<std::string> &getNodeNames() const { return nodeNames; }
  /// Returns the number of batch norms and other factors of channels that were
  /// folded into weights.
  int getNumFolded() const { return folded; }
  /// Returns the size of the original model in bytes, including external data.
  int64_t getFileBytes() const { return fileBytes; }
  virtual int getNumOutputs() const = 0;
  /// Returns true if an output is the result of a softmax, possibly reshaped.
  virtual bool isSoftmax(const std::string &output) const = 0;

  const std::vector<WeightSummary> &getWeights() const { return summaries; }
  const std::vector<LeftSummary> &getLeft() const { return left; }
  /// Returns true if Treatment::finer gives other weights than
  /// Treatment::asked.
  bool canBeFiner() const;
  void setTreatment(size_t weight, Treatment treatment) {
    summaries[weight].treatment = treatment;
  }

  /// Returns the names of the tensors that weights multiply, which must be
  /// observed for the second-order method. They are outputs or inputs of the
  /// model that printOriginal() writes.
  std::vector<std::string> getObserved() const;
  /// Returns the model's name of a tensor of getObserved().
  virtual std::string describeTensor(const std::string &tensor) const = 0;
  /// Describes the first node that reads a tensor: its name and operator.
  virtual std::string describeReader(const std::string &tensor) const = 0;
  /// Adds the elements of a tensor of getObserved() for one of `samples`
  /// samples.
  void observe(const std::string &tensor, llvm::ArrayRef<int64_t> shape,
               llvm::ArrayRef<float> values, size_t samples);
  /// Compresses a weight according to its treatment, unless that has been done.
  /// By second order, this takes a while. The functions below call it where
  /// needed.
  void compress(size_t weight) const { (void)getCompressed(weight); }
  CompressedSizes measure(size_t weight) const;

  /// Serializes the model with its own weights. Its own outputs come first,
  /// followed by the tensors to be observed that are not inputs.
  virtual llvm::Expected<std::string> printOriginal() const = 0;
  /// Serializes the model with its own weights and additional nodes that
  /// compute how much the compression of each weight changes the results of the
  /// layers that read it. Sets `errors` to the outputs that hold these figures.
  virtual llvm::Expected<std::string>
  printErrors(std::vector<ObservedError> &errors) const = 0;
  /// Serializes the compressed model in the format of the file `path`.
  virtual llvm::Expected<std::string>
  printCompressed(llvm::StringRef path) const = 0;
  /// Serializes the compressed model in a form that can be run on the samples.
  virtual llvm::Expected<std::string> printToRun() const = 0;

protected:
  explicit Compressor(Options options) : options(std::move(options)) {}

  /// Adds a weight. `uses` has the uses of all layers that read it, or is empty
  /// if `summary.unobserved` gives a reason.
  void addWeight(WeightSummary summary, std::vector<ObservedUse> uses);
  /// Returns the model's own elements of a weight as a matrix: floats, or
  /// integers minus their zero point.
  virtual std::vector<float> getOwn(size_t weight) const = 0;
  /// Returns the scale of each element of the matrix; an empty list for floats.
  virtual std::vector<float> getScales(size_t weight) const = 0;
  /// Returns the size of an element in the model in bytes.
  virtual int getElementBytes(size_t weight) const = 0;

  /// Returns the matrix of a weight after the given treatment.
  const std::vector<float> &getMatrix(size_t weight, Treatment treatment) const;

  const Options options;
  std::vector<std::string> nodeNames;
  int folded = 0;
  int64_t fileBytes = 0;
  std::vector<WeightSummary> summaries;
  std::vector<LeftSummary> left;

private:
  /// The statistics of the inputs of the layers that read a weight.
  struct ObservedInputs {
    std::vector<ObservedUse> uses; ///< empty if the inputs are not observed
    compression::InputMoments moments;
  };
  /// A compressed weight.
  struct CompressedWeight {
    std::vector<float> matrix;
    std::optional<compression::OutputErrors> errors;
  };

  const CompressedWeight &getCompressed(size_t weight,
                                        Treatment treatment) const;
  const CompressedWeight &getCompressed(size_t weight) const {
    return getCompressed(weight, summaries[weight].treatment);
  }

  std::vector<ObservedInputs> inputs; ///< for each weight
  /// The compressed weights, by the number of the weight and the treatment.
  mutable std::map<std::pair<size_t, Treatment>, CompressedWeight> known;
};

/// Replaces elements of a matrix by zeros, or by fewer distinct values,
/// according to `goal`. They are chosen by their magnitudes or, if `moments` of
/// the inputs is not null, by second order. Returns the errors of the layers'
/// results; nullopt without `moments`.
std::optional<compression::OutputErrors>
compressMatrix(std::vector<float> &matrix, const stored::MatrixShape &shape,
               llvm::ArrayRef<float> scales,
               const compression::WeightGoal &goal,
               const compression::InputMoments *moments);

} // namespace nnc::compression

#endif // NNC_COMPILER_COMPRESSION_COMPRESSOR_H
