//===- Graph.h - Walks the graph of an exported program -------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TORCH_GRAPH_GRAPH_H
#define NNC_FRONTENDS_TORCH_GRAPH_GRAPH_H

#include "frontends/common/Attempt.h"
#include "frontends/common/Body.h"
#include "frontends/common/Customs.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Lengths.h"
#include "frontends/common/Missing.h"
#include "frontends/torch/file/Program.h"
#include "frontends/torch/graph/Signature.h"
#include "frontends/torch/graph/Symbols.h"
#include "frontends/torch/graph/Types.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace nnc::torch {

class Node;

/// A number of the program that is no tensor, such as a size. `value` is a
/// tensor of one element if only the network's run tells the number.
struct Scalar {
  bool isReal = false, isBool = false;
  int64_t integer = 0;
  double real = 0;
  mlir::Value value = {};
  /// The number as an expression of data-dependent sizes, if it depends on
  /// them, otherwise null. `integer` is then its value in this import.
  LengthExpression length = {};
  /// True if the number may be another one at other sizes of the inputs. If
  /// `value` is set, too, it computes the number, which `real` has in this
  /// import.
  bool isOfSizes = false;
};

/// A tensor of the program and its value after the nodes that were imported so
/// far.
struct Tensor {
  mlir::Value value; ///< null after an error, or if it is not computed
  /// The name of the tensor whose elements this one shares, if it is a view,
  /// the node that makes the view, and its place among the node's results.
  std::string base = {};
  const json::Object *node = nullptr;
  size_t result = 0;
  /// The number of changes of the value, and of those of the base's value that
  /// the value includes.
  unsigned changes = 0, seen = 0;
  /// A further result that the converter of its node does not compute.
  bool isLeftOut = false;
};

/// A graph that is being imported.
struct Scope {
  const json::Object *graph;
  std::string prefix; ///< prefix of the names of nodes in messages
  /// Operators read tensors of other floats as those of their results, which
  /// the program does not say: the graph of an autocast.
  bool isAutocast = false;
  llvm::StringMap<Tensor> tensors = {};
  llvm::StringMap<Scalar> scalars = {};
  /// The newest name of tensors whose shape an operator changed in place.
  llvm::StringMap<std::string> renamed = {};
};

class GraphImporter {
public:
  GraphImporter(Program &program, const Signature &signature, Symbols symbols,
                const ImportOptions &options, Problems &problems,
                mlir::func::FuncOp function);

  /// Imports the program's graph into the function and reports problems.
  void run(llvm::ArrayRef<Input> inputs);

  /// Imports a graph that a node such as cond runs, on the values of its
  /// inputs. `after` gets the values that the inputs have behind it, if it is
  /// given. Returns false after an error.
  bool inlineGraph(const json::Object &graph, llvm::StringRef name,
                   const Node &caller, llvm::ArrayRef<mlir::Value> inputs,
                   llvm::SmallVectorImpl<mlir::Value> &results,
                   llvm::SmallVectorImpl<mlir::Value> *after = nullptr);

  /// Returns the current value of a tensor; null, after an error at `node`, if
  /// nothing computes it.
  mlir::Value getValue(Scope &scope, llvm::StringRef name, Node &node);
  /// Gives a tensor another value, in place: also the tensors that share its
  /// elements. Returns false after an error.
  bool setValue(Scope &scope, llvm::StringRef name, mlir::Value value,
                Node &node);
  /// Returns the number that a program calls `name`; nullopt if it is not
  /// known.
  std::optional<Scalar> getScalar(Scope &scope, llvm::StringRef name);

  /// Returns the dtype that the program states for a tensor, as stored, or
  /// null.
  mlir::Type getStatedType(const Scope &scope, llvm::StringRef name);
  /// Returns the number of the dtype that the program states for a tensor.
  std::optional<int64_t> getDtype(const Scope &scope,
                                  llvm::StringRef name) const;
  /// Returns true if the program states that a tensor holds complex numbers.
  bool isComplex(const Scope &scope, llvm::StringRef name) const {
    auto dtype = getDtype(scope, name);
    return dtype && isComplexType(*dtype);
  }
  /// Returns the shape that the program states for a tensor, or nullopt if it
  /// depends on data.
  std::optional<llvm::SmallVector<int64_t>>
  getStatedShape(const Scope &scope, llvm::StringRef name);

  // Data-dependent sizes.

  /// Registers the size of axis `axis` of result `result` of `node`, of which
  /// `count`, a tensor of one integer, is the value when the network runs and
  /// `most` the largest one. Returns its number, which is that of an earlier
  /// size if the program states that both are equal, or nullopt after an error.
  std::optional<unsigned> addLength(Node &node, size_t result, int64_t axis,
                                    int64_t most, mlir::Value count);
  /// Returns the largest size of such an axis that the program states; nullopt
  /// after an error if it states none.
  std::optional<int64_t> getLargestSize(Node &node, size_t result,
                                        int64_t axis);
  /// Binds the symbol that the program states for the size of such an axis to a
  /// known size, if the symbol has no value yet.
  void bindKnown(Node &node, size_t result, int64_t axis, int64_t size);
  /// Registers the size of such an axis that the program states as an
  /// expression of other data-dependent sizes. Returns nullopt if it is no such
  /// expression, or a sum or product, for which no number is needed.
  std::optional<unsigned> addComputedLength(Node &node, size_t result,
                                            int64_t axis);
  /// Returns the data-dependent size that the program states for axis `axis` of
  /// a tensor; nullopt if its size is another one.
  std::optional<unsigned> findLength(const Scope &scope, llvm::StringRef name,
                                     int64_t axis) const;
  /// Registers the value of the number `name` that a node reads from a tensor
  /// (item) as a size, if sizes of tensors depend on it.
  void addItemLength(Node &node, llvm::StringRef name, mlir::Value value);
  const Lengths &getLengths() const { return lengths; }
  /// Returns true if ops on tensors without elements are not dropped, because
  /// the network is compared with imports at other sizes.
  bool keepsEmpty() const;

  Program &getProgram() { return program; }
  const ImportOptions &getOptions() const { return options; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }
  const Symbols &getSymbols() const { return symbols; }

private:
  /// Returns and sets the value of the tensor that was first called `name`,
  /// whatever operators changed its shape since, as getValue() and setValue()
  /// do for the tensor that has the name now.
  mlir::Value readOwn(Scope &scope, llvm::StringRef name, Node &node);
  bool setOwn(Scope &scope, llvm::StringRef name, mlir::Value value,
              Node &node);
  /// Counts a node that is imported. Returns false, after an error, if there
  /// are too many.
  bool countNode();
  void importNodes(Scope &scope);
  void importNodes(Scope &scope, const json::Array &nodes, size_t begin,
                   size_t end);
  /// Imports the nodes of a torch.vmap, whose first one is at `begin`, once for
  /// each slice of the batch. Returns the place of its last node.
  size_t importVmap(Scope &scope, const json::Array &nodes, size_t begin,
                    size_t end);
  void importNode(Scope &scope, const json::Object &object, unsigned index);
  /// Returns true if an operand of a node has no value, which has been
  /// reported.
  bool lacksOperand(Scope &scope, const json::Object &object);
  /// Returns true if an operand or a result of a node holds complex numbers.
  bool usesComplex(const Scope &scope, const json::Object &object) const;
  void takeResults(Scope &scope, Node &node);
  void checkResult(Scope &scope, llvm::StringRef name, mlir::Value value,
                   Node &node);
  /// Builds the value of a view anew from the value of its base.
  void refresh(Scope &scope, Tensor &tensor);
  void bindInputs(Scope &scope, llvm::ArrayRef<Input> inputs);
  void returnResults(Scope &scope);

  Program &program;
  const Signature &signature;
  /// Returns what the program states of the size of axis `axis` of a tensor.
  llvm::StringRef getSizeText(const Scope &scope, llvm::StringRef name,
                              int64_t axis) const;
  /// Returns the upper bound that the program states for a symbol, or nullopt.
  std::optional<int64_t> findLargest(llvm::StringRef symbol);
  /// Binds the symbol that stands for data-dependent size `size`.
  void bindLength(llvm::StringRef symbol, unsigned size);
  /// Makes a constant whose shape depends on data depend on the sizes that it
  /// has, so that it is computed after them.
  mlir::Value linkConstant(const Scope &scope, llvm::StringRef name,
                           mlir::Value value);

  Symbols symbols;
  Lengths lengths;
  llvm::StringMap<LengthExpression> found; ///< by the names of their symbols
  const ImportOptions &options;
  Problems &problems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  llvm::SmallVector<const json::Object *> active;
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants; ///< by elements
  int64_t imported = 0; ///< number of nodes, also of repeated graphs

  Customs customs;
  MissingOperators missing;
  friend class Attempt;
};

class Attempt : public AttemptWithMissing<MissingOperators> {
public:
  explicit Attempt(GraphImporter &importer)
      : AttemptWithMissing(importer.problems, importer.missing) {}
};

/// Returns the names of the results of a node, in order; those of a list of
/// tensors follow each other. A result that is no tensor or number has an empty
/// name.
llvm::SmallVector<llvm::StringRef> getResultNames(const json::Object &node);

} // namespace nnc::torch

#endif // NNC_FRONTENDS_TORCH_GRAPH_GRAPH_H
