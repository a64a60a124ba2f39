//===- Graph.h - Walks a model's graph ------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_ONNX_GRAPH_GRAPH_H
#define NNC_FRONTENDS_ONNX_GRAPH_GRAPH_H

#include "frontends/common/Attempt.h"
#include "frontends/common/Body.h"
#include "frontends/common/Customs.h"
#include "frontends/common/Declarations.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Lengths.h"
#include "frontends/common/Missing.h"
#include "frontends/onnx/graph/Weights.h"
#include "frontends/onnx/lengths/ComputedLengths.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <memory>

namespace onnx {
class OpSchema;
}

namespace nnc::onnx {

/// The scope of the names in a list of nodes: the main graph, the body of a
/// function at one of its calls, or a subgraph.
struct Scope {
  using Imports =
      google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;
  using Attributes = llvm::StringMap<::onnx::AttributeProto *>;

  /// The imported values by name; null for a value that could not be imported.
  llvm::StringMap<mlir::Value> values;
  /// For each value that was folded to a constant: the set of data-dependent
  /// sizes that it was computed from, a bit for each. With other sizes it would
  /// have another value.
  llvm::StringMap<uint64_t> sources;
  /// The nodes that compute the values in `sources`, by the names of their
  /// results.
  llvm::StringMap<LengthMaker> makers;
  /// The initializers by name. They become constants on their first use.
  llvm::StringMap<::onnx::TensorProto *> initializers;
  /// The parameters of a function that the call leaves out.
  llvm::StringSet<> absent;
  /// The types that the graph declares for its values; null in a function,
  /// whose types depend on the call.
  const Declarations::Scope *declared = nullptr;
  /// The names of the graph's outputs.
  const llvm::StringSet<> *outputs = nullptr;
  /// The names that some node reads.
  const llvm::StringSet<> *needed = nullptr;
  /// The enclosing scope of a subgraph; null in a function.
  Scope *parent = nullptr;
  /// The function into which a subgraph is imported; null if it is that of the
  /// parent scope.
  Body *body = nullptr;
  const Imports *imports = nullptr;   ///< versions of the operator sets
  const Attributes *actual = nullptr; ///< attributes of the call of a function
  std::string prefix; ///< prefix of the names of nodes in messages
  int depth = 0;      ///< number of enclosing calls and subgraphs
};

class GraphImporter {
public:
  /// `isRebound` says that the user bound open dimensions of the inputs.
  GraphImporter(::onnx::ModelProto &model, const ImportOptions &options,
                Problems &problems, Weights &weights,
                mlir::func::FuncOp function, bool isRebound);

  /// Imports the main graph into the function and reports problems.
  /// `customShapes` are the shapes that the user gives for results of custom
  /// operators; `inputs` are the model's inputs.
  void run(const GivenShapes &customShapes, llvm::ArrayRef<Input> inputs);

  Problems &getProblems() { return problems; }
  Weights &getWeights() { return weights; }
  const Declarations &getDeclarations() const { return declarations; }
  const Lengths &getLengths() const { return lengths; }
  /// Returns the set of data-dependent sizes, a bit for each as in
  /// Lengths::findSources, from which the value `name`, folded to a constant,
  /// was computed.
  uint64_t findSources(llvm::StringRef name, const Scope &scope) const;
  /// Returns the set of data-dependent sizes from which any operand of a node
  /// was computed.
  uint64_t findSources(const ::onnx::NodeProto &node, const Scope &scope) const;
  /// Returns true if this is one of several imports of the model at different
  /// data-dependent sizes.
  bool isSample() const { return sample; }
  /// Returns true while the nodes of a branch or a loop body are imported,
  /// whose execution depends on values.
  bool isInBody() const;
  /// Returns true if a data-dependent size is 0 in this import.
  bool isEmptySample() const { return emptySample; }
  /// Returns a copy of `x` that depends on the data-dependent sizes in the set
  /// `sources`, so that it is computed after them.
  mlir::Value linkLengths(mlir::Value x, uint64_t sources, mlir::Location loc);
  /// Registers a data-dependent size (Lengths::add). From then on, shapes that
  /// the model declares may hold for one of its values only.
  std::optional<unsigned> addLength(LayerBuilder &builder, FoundSize size,
                                    mlir::Value count);
  /// Registers a data-dependent size that is computed as `number` from the
  /// sizes `bases` (ComputedLengths.h).
  std::optional<unsigned>
  addComputedLength(LayerBuilder &builder, llvm::StringRef name,
                    const LengthExpression &number,
                    llvm::ArrayRef<unsigned> bases = {});
  void noteDim(mlir::Value x, int64_t axis, LengthExpression size) {
    if (x && !isInBody())
      lengths.noteDim(x, axis, std::move(size));
  }
  /// Records that all elements of the constant `x` are `number`.
  void noteFilling(mlir::Value x, double number) {
    if (x && !isInBody())
      lengths.noteFilling(x, number);
  }
  /// Returns the node that computes the value `name`, which was folded to a
  /// constant but depends on data-dependent sizes; null if it does not depend
  /// on any.
  const LengthMaker *findMaker(llvm::StringRef name, const Scope &scope) const;
  /// Returns the value of a name that has been imported, or null.
  mlir::Value findValue(llvm::StringRef name, const Scope &scope) const;
  /// Returns the elements of a value of known whole numbers, else nullopt.
  std::optional<llvm::SmallVector<int64_t>>
  readNumbers(llvm::StringRef name, const Scope &scope) const;
  mlir::OpBuilder &getBuilder() { return builder; }
  mlir::Location getLoc(const ::onnx::NodeProto &node, const Scope &scope);

  /// Imports a subgraph that sees the names of `scope`, in place or into a
  /// `body`. `inputs` are the values of its own inputs.
  bool inlineGraph(::onnx::GraphProto &graph, Scope &scope,
                   const std::string &prefix,
                   llvm::ArrayRef<mlir::Value> inputs, Body *body,
                   llvm::SmallVectorImpl<mlir::Value> &results);
  mlir::Value createConstant(mlir::ElementsAttr value, mlir::Location loc);
  /// Returns the value outside of the body for which `argument` of the body
  /// stands, while that body is being imported; else null.
  mlir::Value getOutside(mlir::BlockArgument argument) const;

  /// Records that the integers in the value `name`, or the indices of its
  /// columns, are class numbers with the labels `texts`.
  void noteTexts(llvm::StringRef name, llvm::ArrayRef<std::string> texts);
  /// Returns pairs of key and text for the metadata of the module: the labels
  /// of the classes that outputs stand for.
  const std::vector<std::pair<std::string, std::string>> &
  getOutputTexts() const {
    return outputTexts;
  }

private:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

  void importNodes(Nodes &nodes, Scope &scope,
                   const llvm::StringSet<> &outputs);
  void importNode(::onnx::NodeProto &node, Scope &scope);
  /// Registers the result of a node as a new data-dependent size if it was
  /// folded to one constant that depends on such sizes but is no sum or product
  /// of them. Returns the value that stands for the size in this import, or
  /// `result` if the size was not registered.
  mlir::Value makeLength(const ::onnx::NodeProto &node, Scope &scope,
                         mlir::Value result);
  /// Returns ops that compute at run time the value `name`, one number that was
  /// folded to a constant and depends on data-dependent sizes; null if it is
  /// not known how.
  mlir::Value computeNumber(LayerBuilder &layer, llvm::StringRef name,
                            const Scope &scope);
  /// Replaces operands that were folded to constants by ops that compute them
  /// at run time, if they depend on data-dependent sizes and the node reads
  /// them as data, not as a shape.
  void computeNumbers(const ::onnx::NodeProto &node, Scope &scope,
                      llvm::MutableArrayRef<mlir::Value> operands);
  /// Makes the result of a node that fills a tensor with a constant
  /// (ConstantOfShape, Expand, Tile) depend on the data-dependent sizes that
  /// its shape is computed from. Only tensors of floats need that: shapes are
  /// not computed with floats.
  mlir::Value linkFilled(const ::onnx::NodeProto &node, Scope &scope,
                         mlir::Value result);
  /// Makes an operand of the node that is no constant depend on the
  /// data-dependent sizes that its constant operands were computed from.
  void linkLengths(const ::onnx::NodeProto &node, Scope &scope,
                   llvm::MutableArrayRef<mlir::Value> operands);
  /// Records the data-dependent sizes from which the results of a node were
  /// computed, if these were folded to constants. `known` is the number of such
  /// sizes before the node was imported.
  void noteSources(const ::onnx::NodeProto &node, Scope &scope,
                   llvm::ArrayRef<mlir::Value> operands, size_t known);
  /// Converts a node and returns its results; a result is null if its
  /// conversion failed.
  llvm::SmallVector<mlir::Value> convert(::onnx::NodeProto &node, Scope &scope,
                                         llvm::ArrayRef<mlir::Value> operands);
  /// Converts a node whose operator ONNX does not define, and returns its
  /// results as convert() does.
  llvm::SmallVector<mlir::Value>
  convertForeign(::onnx::NodeProto &node, Scope &scope,
                 llvm::ArrayRef<mlir::Value> operands);
  /// Imports the body of a function in place of the node that calls it.
  /// `schema` is the schema of the operator if ONNX defines it by this
  /// function.
  llvm::SmallVector<mlir::Value> call(::onnx::FunctionProto &function,
                                      ::onnx::NodeProto &node, Scope &scope,
                                      llvm::ArrayRef<mlir::Value> operands,
                                      const ::onnx::OpSchema *schema = nullptr);
  /// Returns the value `name`, which becomes a constant on its first use if it
  /// is an initializer. Null stands for a value whose import failed; returns
  /// nullopt if the scope has no such name.
  std::optional<mlir::Value> lookup(llvm::StringRef name, Scope &scope);
  /// Returns the value of the result `name` of a function or subgraph; null,
  /// after an error, if nothing computes it.
  mlir::Value getResult(const std::string &name, Scope &scope);
  void checkDeclared(llvm::StringRef name, mlir::Value value,
                     llvm::StringRef origin, mlir::Location loc, Scope &scope);
  /// Returns the user's C function for a node that nnc does not support, or
  /// null.
  const CustomFunction *findCustom(const ::onnx::NodeProto &node);
  llvm::SmallVector<mlir::Value>
  convertCustom(const ::onnx::NodeProto &node, Scope &scope,
                llvm::ArrayRef<mlir::Value> operands,
                const CustomFunction &custom);
  ::onnx::FunctionProto *findFunction(const ::onnx::NodeProto &node);
  void noteUnsupported(const ::onnx::NodeProto &node, Scope &scope);
  void reportUnsupported();
  /// Returns the value of an initializer that holds strings.
  mlir::Value importStrings(const ::onnx::TensorProto &tensor,
                            mlir::Location loc);
  /// Returns true after an error if an operand is a tensor of strings and the
  /// operator does not support them.
  bool failsOnStrings(const ::onnx::NodeProto &node, Scope &scope,
                      llvm::ArrayRef<mlir::Value> operands);
  mlir::Value load(mlir::Value argument, mlir::Type element);
  mlir::Value store(mlir::Value value);
  void addResults();

  ::onnx::ModelProto &model;
  Problems &problems;
  Weights &weights;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  Declarations declarations;
  Declarations::Scope declaredInMain;
  Scope main;
  /// The model's functions and the bodies of functions that ONNX defines. They
  /// are kept because their tensors are identified by their addresses.
  llvm::StringMap<::onnx::FunctionProto *> functions;
  std::deque<std::unique_ptr<::onnx::FunctionProto>> bodies;
  /// The functions of branches and loops around the current node, outermost
  /// first.
  llvm::SmallVector<Body *> openBodies;
  /// The number of imported nodes, including those of called functions.
  int64_t imported = 0;

  Customs customs;
  Lengths lengths;
  bool sample, emptySample;
  const GivenShapes *customShapes = nullptr;
  /// Sizes of the dimensions that the model gives names to.
  llvm::StringMap<int64_t> symbols;

  /// The class labels of values of the main graph, by the names of the values,
  /// and the labels of outputs as metadata entries.
  llvm::StringMap<std::vector<std::string>> texts;
  std::vector<std::pair<std::string, std::string>> outputTexts;

  MissingOperators missing;
  friend class Attempt;
};

class Attempt : public AttemptWithMissing<MissingOperators> {
public:
  explicit Attempt(GraphImporter &importer)
      : AttemptWithMissing(importer.problems, importer.missing) {}
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_GRAPH_H
