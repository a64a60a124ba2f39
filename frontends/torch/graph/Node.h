//===- Node.h - What a converter sees of a node ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_NODE_H
#define NNC_FRONTENDS_TORCH_GRAPH_NODE_H

#include "dialects/nn/Nn.h"
#include "frontends/common/LayerBuilder.h"
#include "frontends/torch/graph/Graph.h"
#include "frontends/torch/graph/Types.h"

namespace nnc::torch {

/// The view of a node that its converter gets: its arguments by the names of
/// ATen's schema, and the functions that build the ops that compute it. Values
/// have PyTorch's shapes; floats of 16 bits are float32.
///
/// An argument that is absent or None gives the default. An argument of another
/// kind than the asked one is reported, gives the default too, and makes the
/// importer drop the result of the converter.
class Node : public LayerBuilder {
public:
  Node(GraphImporter &importer, const json::Object &node, Scope &scope,
       mlir::Location loc, llvm::StringRef name);

  /// Returns true if the argument is there and not None.
  bool has(llvm::StringRef name) const { return find(name); }

  // Arguments.

  /// Returns a tensor that the operator needs; null after an error if it is
  /// absent.
  mlir::Value getTensor(llvm::StringRef name);
  /// Returns a tensor, or null if it is absent.
  mlir::Value getOptionalTensor(llvm::StringRef name);
  /// Returns a list of tensors, with null for those that are None. It is empty
  /// after an error.
  llvm::SmallVector<mlir::Value> getTensors(llvm::StringRef name);
  int64_t getInt(llvm::StringRef name, int64_t otherwise = 0);
  /// Returns a list of integers; one integer is a list of one.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name,
                                     llvm::ArrayRef<int64_t> otherwise = {});
  /// Returns a list as getInts() does, with `count` numbers. A single number is
  /// repeated, as PyTorch does for kernels and strides.
  llvm::SmallVector<int64_t> getInts(llvm::StringRef name, size_t count,
                                     int64_t otherwise);
  double getFloat(llvm::StringRef name, double otherwise = 0);
  llvm::SmallVector<double> getFloats(llvm::StringRef name);
  bool getBool(llvm::StringRef name, bool otherwise = false);
  llvm::StringRef getString(llvm::StringRef name,
                            llvm::StringRef otherwise = "");
  /// Returns the type with which nnc computes a dtype; null if it is absent.
  mlir::Type getDtype(llvm::StringRef name);
  /// Returns an axis of a tensor of `rank` axes counted from the front, or
  /// nullopt after an error. A scalar counts as having one axis, and
  /// `otherwise` is the default.
  std::optional<int64_t> getAxis(llvm::StringRef name, int64_t rank,
                                 int64_t otherwise = 0);
  /// Returns axes in ascending order; all if there are none. Returns nullopt
  /// after an error.
  std::optional<llvm::SmallVector<int64_t>> getAxes(llvm::StringRef name,
                                                    int64_t rank);
  /// Returns a number, or nullopt if it is absent, after an error if it is of
  /// another kind.
  std::optional<Scalar> getScalar(llvm::StringRef name);
  /// Returns the graph that argument `i` names, and its name; null after an
  /// error.
  std::pair<const json::Object *, std::string> getGraph(size_t i);
  /// Returns the argument at place `i` of a node whose arguments have no names,
  /// as a tensor or as a list.
  mlir::Value getTensorAt(size_t i);
  /// Returns the integer at place `i`, or `otherwise` if it is absent.
  int64_t getIntAt(size_t i, int64_t otherwise);
  /// Returns the number at place `i` as a scalar tensor.
  mlir::Value getScalarAt(size_t i);
  /// Returns the name of the tensor at place `i`, or an empty string.
  llvm::StringRef getTensorNameAt(size_t i) const;
  size_t getNumInputs() const;
  llvm::SmallVector<mlir::Value> getTensorsAt(size_t i);

  // Promotion of types.

  /// An operand of an operator that promotes types: a tensor or a number.
  struct Operand {
    mlir::Value tensor = {};
    std::optional<Scalar> number = std::nullopt;
  };
  /// Returns the argument `name`, a tensor or a number.
  Operand getOperand(llvm::StringRef name);
  /// Returns the element type to which PyTorch promotes the operands: a higher
  /// kind of numbers wins, then tensors over scalar tensors over numbers. Null
  /// if an operand is.
  mlir::Type promote(llvm::ArrayRef<Operand> operands);
  /// Returns an operand as elements of the type `element`.
  mlir::Value castTo(const Operand &operand, mlir::Type element);
  using LayerBuilder::castTo;
  /// Returns `x` as a float: an integer or bool becomes float32.
  mlir::Value toReal(mlir::Value x);
  /// Returns a number as a tensor of the shape () and the type `element`.
  mlir::Value makeScalar(const Scalar &number, mlir::Type element);

  // Results. A converter returns the first result and sets further results.

  void setResult(size_t i, mlir::Value value);
  size_t getNumResults() const { return results.size(); }
  llvm::ArrayRef<mlir::Value> getResults() const { return results; }
  llvm::ArrayRef<llvm::StringRef> getResultNames() const { return names; }
  /// Returns the type and shape that the program states for a result; null or
  /// nullopt if they are not known.
  mlir::Type getStatedType(size_t i = 0);
  std::optional<llvm::SmallVector<int64_t>> getStatedShape(size_t i = 0);
  /// Returns true if result `i` is a float and no tensor.
  bool isRealNumber(size_t i) const;
  /// Returns whether an argument was of the wrong kind.
  bool hasFailed() const { return isFailed; }

  // Ops that many converters need.

  /// Returns the slice of `x` along `axis` with `size` elements from `start`
  /// on.
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t size,
                    int64_t step = 1);
  /// Returns `x` with an axis of size 1 in front of `axis`.
  mlir::Value unsqueeze(mlir::Value x, int64_t axis);
  /// Returns the nn op `op` of `a` and the number `b`.
  mlir::Value createBinary(llvm::StringRef op, mlir::Value a, double b);

  /// Returns the name of the nn op that the line of Ops.inc gives.
  llvm::StringRef getNnOp() const { return nnOp; }
  void setNnOp(llvm::StringRef name) { nnOp = name; }
  /// Returns the node as the program has it, and the name of its operator
  /// without "torch.ops.aten.".
  const json::Object &getJson() const { return node; }
  GraphImporter &getImporter() { return importer; }
  Scope &getScope() { return scope; }
  const Scope &getScope() const { return scope; }
  /// Returns the name of the tensor that argument `name` is, or an empty
  /// string.
  llvm::StringRef getTensorName(llvm::StringRef name) const;
  /// Returns the type of the elements of that tensor as the program states it,
  /// or null.
  mlir::Type getTensorType(llvm::StringRef name) {
    return importer.getStatedType(scope, getTensorName(name));
  }
  /// Returns true if the argument `name` is a tensor of complex numbers.
  bool isComplex(llvm::StringRef name) const {
    return importer.isComplex(scope, getTensorName(name));
  }
  /// Returns true if the tensor at place `i` of the list `name` is one.
  bool isComplexInList(llvm::StringRef name, size_t i) const;
  /// Returns true if the node's first result, or else its operand `self`, holds
  /// complex numbers whose parts are f64.
  bool hasDoubleParts() const;
  /// Returns the parts of an argument that is a complex number; nullopt for
  /// others.
  std::optional<std::pair<double, double>>
  getComplex(llvm::StringRef name) const;

private:
  /// Returns the argument, an object with one field that says its kind; null if
  /// it is absent or None.
  const json::Object *find(llvm::StringRef name) const;
  const json::Object *findAt(size_t i) const;
  mlir::Value readTensor(const json::Object &argument, llvm::StringRef name);
  /// Returns the value of the tensor `name`. In an autocast, a tensor of
  /// float32 that is read for a result of 16-bit floats is rounded to them.
  mlir::Value readValue(llvm::StringRef name);
  llvm::SmallVector<mlir::Value> readTensors(const json::Object &argument,
                                             llvm::StringRef name);
  std::optional<Scalar> readScalar(const json::Object &argument);
  /// Reports that an argument is not `what`.
  void refuse(llvm::StringRef name, const llvm::Twine &what);
  /// Reports that the argument `name`, which is `value`, has to be known when
  /// compiling.
  void refuseComputed(llvm::StringRef name, mlir::Value value);

  GraphImporter &importer;
  const json::Object &node;
  Scope &scope;
  llvm::SmallVector<llvm::StringRef> names;
  llvm::SmallVector<mlir::Value> results;
  llvm::StringRef nnOp;
  bool isFailed = false;
};

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_NODE_H
