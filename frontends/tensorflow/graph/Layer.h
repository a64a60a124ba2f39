//===- Layer.h - What a converter sees of a node ----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_LAYER_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_LAYER_H

#include "frontends/common/LayerBuilder.h"
#include "frontends/tensorflow/graph/Importer.h"
#include "frontends/tensorflow/graph/Types.h"

namespace nnc::tensorflow {

using Sizes = llvm::SmallVector<int64_t>;

/// The view of a node that its converter gets: its inputs, its attributes, and
/// the functions that build the ops that compute it.
class Layer : public LayerBuilder {
public:
  Layer(GraphImporter &importer, const pb::NodeDef &node,
        llvm::ArrayRef<Passed> inputs, mlir::Location loc, llvm::StringRef op);

  // Inputs, without those that only have to run before.
  size_t getNumInputs() const { return inputs.size(); }
  llvm::ArrayRef<Passed> getInputs() const { return inputs; }
  const Passed &getPassed(size_t i) const { return inputs[i]; }
  /// Returns input `i`, a tensor. Returns null after an error if it is
  /// something else.
  mlir::Value getInput(size_t i);
  /// Returns the constant that `x` is if it follows from constants by a few ops
  /// on small tensors; otherwise x.
  mlir::Value foldKnown(mlir::Value x);
  /// Returns the elements of a constant, as those of LayerBuilder do, or of
  /// what follows from constants by small ops, in floats too.
  std::optional<llvm::SmallVector<int64_t>> readInts(mlir::Value value,
                                                     llvm::StringRef what) {
    return LayerBuilder::readInts(foldKnown(value), what);
  }
  std::optional<llvm::SmallVector<double>> readReals(mlir::Value value,
                                                     llvm::StringRef what) {
    return LayerBuilder::readReals(foldKnown(value), what);
  }
  /// Returns all inputs from `first` on; an empty list after an error.
  llvm::SmallVector<mlir::Value> getTensors(size_t first, size_t count);
  /// Returns the axis, of `rank` axes, in input `i`. Returns nullopt after an
  /// error if the input is not a constant with one number in range.
  std::optional<int64_t> readAxis(size_t i, int64_t rank);

  // Attributes; the default value if the node lacks one.
  bool hasAttribute(llvm::StringRef name) const { return findAttribute(name); }
  int64_t getInt(llvm::StringRef name, int64_t otherwise = 0) const;
  double getReal(llvm::StringRef name, double otherwise) const;
  bool getBool(llvm::StringRef name, bool otherwise = false) const;
  llvm::StringRef getText(llvm::StringRef name,
                          llvm::StringRef otherwise = "") const;
  llvm::SmallVector<llvm::StringRef> getTexts(llvm::StringRef name) const;
  Sizes getInts(llvm::StringRef name) const;
  llvm::SmallVector<double> getReals(llvm::StringRef name) const;
  /// Returns the type in an attribute if it is one of floats of 16 bits;
  /// otherwise null.
  mlir::Type getHalf(llvm::StringRef name) const;
  /// Returns the type in which the elements of a type in an attribute are
  /// computed, or null after an error if nnc does not support it. A node that
  /// lacks the attribute has `otherwise`.
  mlir::Type getType(llvm::StringRef name,
                     pb::DataType otherwise = pb::DT_INVALID);
  /// Returns the sizes in an attribute, -1 for those that are not stated;
  /// nullopt if it states no number of axes.
  std::optional<Sizes> getSizes(llvm::StringRef name) const;
  const pb::TensorProto *getTensor(llvm::StringRef name) const;
  llvm::StringRef getFunction(llvm::StringRef name) const;
  llvm::SmallVector<llvm::StringRef> getFunctions(llvm::StringRef name) const;

  // Results. A converter returns the first result and sets further results.
  void setResult(size_t i, mlir::Value value) {
    setPassed(i, makeTensor(value));
  }
  void setPassed(size_t i, const Passed &passed);
  llvm::ArrayRef<Passed> getResults() const { return results; }

  /// Imports a function in place on the values `given`. Returns false after an
  /// error.
  bool inlineFunction(llvm::StringRef name, llvm::ArrayRef<Passed> given,
                      llvm::SmallVectorImpl<Passed> &called) {
    return importer.inlineFunction(name, *this, given, called);
  }
  GraphImporter &getImporter() { return importer; }
  const pb::NodeDef &getNode() const { return node; }

  // Building.

  mlir::NamedAttribute real(llvm::StringRef name, double value);
  /// Returns the slice of `x` that begins at `starts` and has the sizes
  /// `sizes`, with steps of 1 unless others are given.
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> steps = {});
  /// Returns a constant vector with the elements `values` of type `element`.
  mlir::Value vectorOf(llvm::ArrayRef<int64_t> values, mlir::Type element);
  /// Returns the elementwise op `op` on operands that broadcast.
  ///
  /// Converters compute images in the order of axes that nn's ops have, with
  /// the channels second, and transpose results back. Elementwise ops on such
  /// results are computed in front of that transpose, so that they stand behind
  /// the op that they belong to.
  mlir::Value elementwise(llvm::StringRef op,
                          llvm::ArrayRef<mlir::Value> operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  /// Changes the order of axes from channels last to channels second, or back,
  /// for images of any number of axes.
  mlir::Value toChannelsFirst(mlir::Value x);
  mlir::Value toChannelsLast(mlir::Value x);
  /// Returns the image of which `x` is toChannelsLast(); null if it is not.
  static mlir::Value getChannelsFirst(mlir::Value x);

private:
  const pb::AttrValue *findAttribute(llvm::StringRef name) const;

  GraphImporter &importer;
  const pb::NodeDef &node;
  llvm::ArrayRef<Passed> inputs;
  llvm::SmallVector<Passed> results;
};

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_LAYER_H
