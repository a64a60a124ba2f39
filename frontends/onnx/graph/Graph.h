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
#include "frontends/onnx/graph/Weights.h"
#include "frontends/onnx/lengths/ComputedLengths.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <deque>
#include <memory>

namespace onnx {
class OpSchema;
}

namespace nnc::onnx {

/// The names that a list of nodes can see: those of the main graph, of the body
/// of a function where it is called, or of a subgraph.
struct Scope {
  using Imports =
      google::protobuf::RepeatedPtrField<::onnx::OperatorSetIdProto>;
  using Attributes = llvm::StringMap<::onnx::AttributeProto *>;

  /// Null stands for a value that could not be imported.
  llvm::StringMap<mlir::Value> values;
  /// Lengths that data decide from which known numbers are computed, by name.
  llvm::StringMap<uint64_t> sources;
  /// The nodes that compute such numbers, by the names of their results.
  llvm::StringMap<LengthMaker> makers;
  /// Tensors that become constants when first used.
  llvm::StringMap<::onnx::TensorProto *> initializers;
  /// Parameters of a function that a call leaves out.
  llvm::StringSet<> absent;
  /// What the graph says of the types of its values; null in a function, whose
  /// types depend on the call.
  const Declarations::Scope *declared = nullptr;
  /// Names that the graph has as outputs.
  const llvm::StringSet<> *outputs = nullptr;
  /// Names that something reads.
  const llvm::StringSet<> *needed = nullptr;
  Scope *parent = nullptr; ///< of a subgraph; a function has none
  /// The function that a subgraph is imported into, if it is not that of its
  /// parent.
  Body *body = nullptr;
  const Imports *imports = nullptr;   ///< versions of the operator sets
  const Attributes *actual = nullptr; ///< what a function is called with
  std::string prefix;                 ///< of names of nodes, in messages
  int depth = 0;                      ///< calls and subgraphs around this one
};

class GraphImporter {
public:
  /// `isRebound` says that the user bound open dimensions of the inputs.
  GraphImporter(::onnx::ModelProto &model, const ImportOptions &options,
                Problems &problems, Weights &weights,
                mlir::func::FuncOp function, bool isRebound);

  /// Imports the main graph into the function; problems are reported.
  /// `customShapes` are the user's shapes of results of custom operators;
  /// `inputs` are those of the model.
  void run(const GivenShapes &customShapes, llvm::ArrayRef<Input> inputs);

  Problems &getProblems() { return problems; }
  Weights &getWeights() { return weights; }
  const Declarations &getDeclarations() const { return declarations; }
  const Lengths &getLengths() const { return lengths; }
  /// Returns the lengths that data decide from which the value of `name`, a
  /// known number, is computed, as Lengths::findSources does.
  uint64_t findSources(llvm::StringRef name, const Scope &scope) const;
  /// Returns the same for all operands of a node.
  uint64_t findSources(const ::onnx::NodeProto &node, const Scope &scope) const;
  /// Whether the model is imported at other sizes, too.
  bool isSample() const { return sample; }
  /// Whether the nodes that are imported are those of a body that runs
  /// depending on values.
  bool isInBody() const;
  /// Whether it is one at which data find nothing.
  bool isEmptySample() const { return emptySample; }
  /// Returns `x`, which a run computes behind the lengths in `sources`.
  mlir::Value linkLengths(mlir::Value x, uint64_t sources, mlir::Location loc);
  /// Adds a size that data decide, as Lengths does. From then on, what the
  /// model declares of shapes may be one of many.
  std::optional<unsigned> addLength(LayerBuilder &builder, FoundSize size,
                                    mlir::Value count);
  /// Adds one that is `number`, which was read with `bases`
  /// (ComputedLengths.h).
  std::optional<unsigned>
  addComputedLength(LayerBuilder &builder, llvm::StringRef name,
                    const LengthExpression &number,
                    llvm::ArrayRef<unsigned> bases = {});
  void noteDim(mlir::Value x, int64_t axis, LengthExpression size) {
    if (x && !isInBody())
      lengths.noteDim(x, axis, std::move(size));
  }
  /// Notes that all elements of `x`, a constant, are this number.
  void noteFilling(mlir::Value x, double number) {
    if (x && !isInBody())
      lengths.noteFilling(x, number);
  }
  /// Returns the node that computes the value of `name`, known numbers that
  /// follow from lengths which data decide; null if they do not.
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
  /// Returns the value outside that an argument of a body stands for, while
  /// that body is imported; else null.
  mlir::Value getOutside(mlir::BlockArgument argument) const;

  /// Says that the integers in the value `name`, or its columns, stand for
  /// these texts.
  void noteTexts(llvm::StringRef name, llvm::ArrayRef<std::string> texts);
  /// Entries of the model's metadata that name what outputs stand for.
  const std::vector<std::pair<std::string, std::string>> &
  getOutputTexts() const {
    return outputTexts;
  }

private:
  using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;

  void importNodes(Nodes &nodes, Scope &scope,
                   const llvm::StringSet<> &outputs);
  void importNode(::onnx::NodeProto &node, Scope &scope);
  /// Makes the result of a node a length of its own if it is a known number
  /// that follows from lengths which data decide, but is no sum or product of
  /// them. Returns the value that it has in this import, or `result`.
  mlir::Value makeLength(const ::onnx::NodeProto &node, Scope &scope,
                         mlir::Value result);
  /// Returns a value of the graph, one known number that follows from lengths
  /// which data decide, as what a run computes; null where that cannot be told.
  mlir::Value computeNumber(LayerBuilder &layer, llvm::StringRef name,
                            const Scope &scope);
  /// Replaces operands that are known numbers which follow from lengths by what
  /// a run computes, where the node computes data with them and no shape.
  void computeNumbers(const ::onnx::NodeProto &node, Scope &scope,
                      llvm::MutableArrayRef<mlir::Value> operands);
  /// Makes the result of a node that fills a tensor with a known number depend
  /// on the lengths that its shape is computed from. No node computes shapes
  /// with floats, so that nobody has to know the number.
  mlir::Value linkFilled(const ::onnx::NodeProto &node, Scope &scope,
                         mlir::Value result);
  /// Makes an operand of the node depend on lengths that data decide and that
  /// others, known numbers, are.
  void linkLengths(const ::onnx::NodeProto &node, Scope &scope,
                   llvm::MutableArrayRef<mlir::Value> operands);
  /// Notes from which lengths that data decide the results of a node are
  /// computed, if they are known numbers.
  void noteSources(const ::onnx::NodeProto &node, Scope &scope,
                   llvm::ArrayRef<mlir::Value> operands, size_t known);
  /// Results of the node, null where it failed.
  llvm::SmallVector<mlir::Value> convert(::onnx::NodeProto &node, Scope &scope,
                                         llvm::ArrayRef<mlir::Value> operands);
  /// Converts a node of which ONNX has no definition, as convert() does.
  llvm::SmallVector<mlir::Value>
  convertForeign(::onnx::NodeProto &node, Scope &scope,
                 llvm::ArrayRef<mlir::Value> operands);
  /// `schema` is that of an operator whose definition the function is.
  llvm::SmallVector<mlir::Value> call(::onnx::FunctionProto &function,
                                      ::onnx::NodeProto &node, Scope &scope,
                                      llvm::ArrayRef<mlir::Value> operands,
                                      const ::onnx::OpSchema *schema = nullptr);
  /// The value of a name, null for one that failed; nothing where there is
  /// none.
  std::optional<mlir::Value> lookup(llvm::StringRef name, Scope &scope);
  /// The value that a function or subgraph returns; null, and a report, where
  /// nothing computes it.
  mlir::Value getResult(const std::string &name, Scope &scope);
  void checkDeclared(llvm::StringRef name, mlir::Value value,
                     llvm::StringRef origin, mlir::Location loc, Scope &scope);
  /// The user's function for a node that nnc lacks, or null.
  const CustomFunction *findCustom(const ::onnx::NodeProto &node);
  llvm::SmallVector<mlir::Value>
  convertCustom(const ::onnx::NodeProto &node, Scope &scope,
                llvm::ArrayRef<mlir::Value> operands,
                const CustomFunction &custom);
  ::onnx::FunctionProto *findFunction(const ::onnx::NodeProto &node);
  void noteUnsupported(const ::onnx::NodeProto &node, Scope &scope);
  void reportUnsupported();
  /// The value of an initializer that holds strings.
  mlir::Value importStrings(const ::onnx::TensorProto &tensor,
                            mlir::Location loc);
  /// Returns true, and reports it, if the operator does not take the strings
  /// that it is given.
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
  /// The model's own functions, and bodies of ONNX's own functions, whose
  /// tensors are known by address.
  llvm::StringMap<::onnx::FunctionProto *> functions;
  std::deque<std::unique_ptr<::onnx::FunctionProto>> bodies;
  llvm::SmallVector<Body *> openBodies; ///< around what is imported
  int64_t imported = 0; ///< nodes, those of called functions included

  Customs customs;
  Lengths lengths;
  bool sample, emptySample;
  const GivenShapes *customShapes = nullptr;
  /// Sizes of the dimensions that the model gives names to.
  llvm::StringMap<int64_t> symbols;

  /// What the numbers in values, or their columns, stand for, by names of
  /// values of the main graph; and those of outputs, as metadata.
  llvm::StringMap<std::vector<std::string>> texts;
  std::vector<std::pair<std::string, std::string>> outputTexts;

  struct Missing {
    mlir::Location first;
    int64_t count;
  };
  /// Operators that nnc lacks, by name.
  llvm::MapVector<mlir::StringAttr, Missing> missing;
  friend class Attempt;
};

class Attempt : public AttemptWithMissing<decltype(GraphImporter::missing)> {
public:
  explicit Attempt(GraphImporter &importer)
      : AttemptWithMissing(importer.problems, importer.missing) {}
};

} // namespace nnc::onnx

#endif // NNC_FRONTENDS_ONNX_GRAPH_GRAPH_H
