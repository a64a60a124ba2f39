//===- Quantizer.h - A float ONNX model becomes a quantized one -----------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H
#define NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H

#include "compiler/quantize/AffineFolds.h"
#include "compiler/quantize/Methods.h"
#include "compiler/quantize/Range.h"
#include "compiler/quantize/Weights.h"
#include "frontends/common/Import.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace nnc::onnx {

struct QuantizeOptions {
  quantize::WeightPrecision weights; ///< how weights become integers
  /// The ranges of the values whose channels equalize() scales; empty for no
  /// equalization.
  quantize::ChannelRanges channelRanges;
  /// Scales and offsets behind layers that are folded into weights, as the
  /// import of the model found them.
  std::vector<quantize::AffineFold> folds;
  /// True if results of products that only float nodes read are not rounded.
  bool unrounded = false;
  /// The integer type of activations.
  quantize::Storage storage = quantize::Storage::s8;
  std::set<std::string> exclude; ///< nodes that stay float, by name
  std::set<std::string> ops;     ///< operators to quantize; empty for all
};

/// A layer of the model that is quantized.
struct LayerSummary {
  int node; ///< index that is valid as long as the model is open
  std::string name, op;
  std::vector<std::string> inputs; ///< names of quantized tensors
  std::string output;
  bool isMove;    ///< only moves elements, which keep their scale
  bool isRounded; ///< output is rounded; see QuantizeOptions::unrounded
};

/// A node of a kind that can be quantized, but that stays float.
struct FloatSummary {
  std::string name, op, reason;
  /// True if the node multiplies by weights, or if the user or the search
  /// decided that it stays float.
  bool isImportant;
};

/// A float model that is being quantized. The quantizer does not run models: it
/// writes models whose outputs are the values to observe, and its caller runs
/// them and passes the results back.
class Quantizer {
public:
  /// Reads the model at `path`, raises its operator set if necessary, folds
  /// batch normalizations, equalizes its weights if ranges are given, and plans
  /// what to quantize. Returns null after an error.
  static std::unique_ptr<Quantizer> open(llvm::StringRef path,
                                         llvm::StringRef externalData,
                                         const QuantizeOptions &options,
                                         mlir::MLIRContext &context,
                                         frontends::ImportStatus &status);
  ~Quantizer();

  /// Returns the names of all nodes of the file.
  const std::vector<std::string> &getNodeNames() const;
  /// Returns the name of a node that already computes on quantized values, or
  /// "".
  std::string findQuantizedNode() const;
  int getNumFolded() const;      ///< folded nodes, such as batch normalizations
  int getNumEqualized() const;   ///< equalized pairs of layers
  int64_t getFloatBytes() const; ///< includes external data
  int64_t getOpset() const;
  int getNumOutputs() const; ///< outputs of the original model

  std::vector<LayerSummary> getLayers() const;
  std::vector<FloatSummary> getFloats() const;
  /// Returns the tensors that are quantized, in the order in which they are
  /// computed.
  std::vector<std::string> getTensors() const;
  /// Returns a phrase for the producer of a tensor: "node 'conv1' (Conv)" or
  /// "an input".
  std::string describeProducer(const std::string &tensor) const;

  /// Returns the values whose channels equalize() could scale.
  std::vector<std::string> getEqualizable() const;

  /// Returns true if a tensor is the result of a softmax, possibly reshaped.
  bool isSoftmax(const std::string &tensor) const;

  /// Excludes a tensor; `reason` follows its name in a sentence.
  void setUnusable(const std::string &tensor, const std::string &reason);
  /// Sets the layers that stay float, by node, each with the reason.
  void keepFloats(const std::map<int, std::string> &nodes);
  /// Sets the ranges of the tensors and derives their scales.
  void setRanges(const std::map<std::string, quantize::Range> &ranges);
  quantize::Parameters getParameters(const std::string &tensor) const;

  /// Serializes the float model with the quantized tensors, and `others`, as
  /// additional outputs.
  llvm::Expected<std::string>
  printObserved(llvm::ArrayRef<std::string> others) const;
  /// Serializes a model whose additional outputs are the errors that the
  /// quantization of the weights alone causes in the sums of each layer that
  /// has or can get a bias. `outputs` receives the layer's node for the name of
  /// each such output.
  llvm::Expected<std::string>
  printWeightErrors(std::map<std::string, int> &outputs);
  /// Subtracts `means`, the mean error of each channel, from the layer's bias.
  /// The channels are axis 1 of Conv and ConvTranspose, and the last axis of
  /// other layers.
  void correctBias(int node, const std::vector<double> &means);
  /// Serializes the quantized model. If `observed` is not null, the dequantized
  /// tensors are additional outputs, and `observed` maps the name of each
  /// tensor to the name of its output.
  llvm::Expected<std::string>
  printQuantized(std::map<std::string, std::string> *observed = nullptr) const;
  /// Serializes the quantized model without the shapes that the file declares
  /// for computed values, which may contradict the shapes that the user gave
  /// for inputs.
  llvm::Expected<std::string> printWithoutShapes() const;

private:
  struct Implementation;
  explicit Quantizer(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> own;
};

/// Returns the operators that can be quantized, as users name them.
const std::vector<std::string> &getQuantizableOps();

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_QUANTIZE_QUANTIZER_H
