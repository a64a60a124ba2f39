//===- Importer.h - Walks a model's graph and functions ---------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H
#define NNC_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H

#include "frontends/common/Attempt.h"
#include "frontends/common/Customs.h"
#include "frontends/common/Import.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Lengths.h"
#include "frontends/common/Missing.h"
#include "frontends/tensorflow/file/Checkpoint.h"
#include "frontends/tensorflow/graph/Graph.h"
#include "frontends/tensorflow/tables/Contents.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace nnc::tensorflow {

class Layer;

/// The value that an edge of the graph carries.
struct Passed {
  enum Kind {
    absent,   ///< an error has been reported, or nothing computes it
    tensor,   ///< `value`
    complex,  ///< `value`, whose last axis has a real and an imaginary part
    list,     ///< a list of tensors
    variable, ///< the handle of the variable `name`
    table,    ///< the handle of the lookup table of numbers `name`
    bits,     ///< the bits of the floats `value`, as integers
    text,     ///< strings, or what is made of them; `name` says what it is
    dead      ///< the branch of a Switch that is not taken
  };
  Kind kind = absent;
  /// The tensor. For a list: its elements, along the first axis; null as long
  /// as no element tells their shape.
  mlir::Value value = {};
  std::string name = "";
  int64_t length = 0; ///< length of a list
  /// True for the handle of a TensorArray that grows where it is written
  /// behind its end.
  bool grows = false;

  bool isTensor() const { return kind == tensor; }
  /// Returns true if the edge carries a value, of whatever meaning.
  bool hasValue() const { return bool(value); }
  /// Returns the same with another value.
  Passed with(mlir::Value other) const {
    Passed copy = *this;
    copy.value = other;
    return copy;
  }
};

inline Passed makeTensor(mlir::Value value) {
  return {value ? Passed::tensor : Passed::absent, value};
}

/// A graph or function that is being imported.
struct Scope {
  const Graph *graph;
  std::string prefix; ///< prefix of names of nodes in messages
  /// The results of nodes and the arguments, by name.
  llvm::StringMap<llvm::SmallVector<Passed, 1>> values = {};
};

/// A variable that the model assigns, and therefore keeps between runs: an
/// argument and a result of the function.
struct State {
  std::string name;
  mlir::BlockArgument argument;
  mlir::Value value; ///< value after the nodes imported so far
  mlir::ElementsAttr initial;
};

class GraphImporter {
public:
  GraphImporter(std::shared_ptr<const LoadedModel> loaded, const Graphs &graphs,
                Checkpoint &checkpoint, const ImportOptions &options,
                Problems &problems, mlir::func::FuncOp function,
                bool isRebound);

  /// Imports the main graph into the function and reports problems.
  void run(llvm::ArrayRef<Input> inputs);

  /// Imports a function in place on the values `inputs`, for the node `caller`
  /// that runs it. Returns false after an error.
  bool inlineFunction(llvm::StringRef name, Layer &caller,
                      llvm::ArrayRef<Passed> inputs,
                      llvm::SmallVectorImpl<Passed> &results);
  /// Returns the function `name`; null after an error of the node `caller`.
  const Graph *findFunction(llvm::StringRef name, Layer &caller);

  /// Returns the value of a variable, or null after an error.
  mlir::Value readVariable(llvm::StringRef name);
  /// Gives a variable a value. Returns false after an error of `caller`.
  bool assignVariable(llvm::StringRef name, mlir::Value value, Layer &caller);
  /// Returns the contents of a lookup table of numbers.
  TableContents getTable(llvm::StringRef name);
  /// Returns the current values of the variables that the model assigns.
  llvm::SmallVector<mlir::Value> getVariables() const;
  /// Gives the variable `i` among them a value.
  void setVariable(size_t i, mlir::Value value);
  /// Makes the body of a branch or loop, until this object ends, read the
  /// variables that the model assigns through `capture`. The values that the
  /// body assigns last as long as the object.
  class BodyScope {
  public:
    BodyScope(GraphImporter &importer,
              llvm::function_ref<mlir::Value(mlir::Value)> capture);
    ~BodyScope();
    /// Returns the values of the variables at the beginning of the body.
    llvm::ArrayRef<mlir::Value> getGiven() const { return given; }

  private:
    GraphImporter &importer;
    llvm::SmallVector<mlir::Value> before, given;
  };

  /// Returns the constant of a node.
  mlir::ElementsAttr getConstant(const pb::TensorProto &tensor,
                                 llvm::StringRef name, mlir::Location loc);

  Lengths &getLengths() { return lengths; }
  Customs &getCustoms() { return customs; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }
  const ImportOptions &getOptions() const { return options; }
  bool keepsEmpty() const { return options.isSample; }
  /// Returns true if calls and loops expand to more nodes than --limit allows.
  bool hasTooManyNodes() const { return inlined > problems.getLimits().nodes; }

private:
  bool importNodes(Scope &scope);
  void importNode(Scope &scope, const pb::NodeDef &node);
  /// Returns what a reference stands for; absent if it stands for nothing.
  Passed find(Scope &scope, llvm::StringRef text, mlir::Location loc,
              llvm::StringRef op);
  void returnResults(llvm::ArrayRef<mlir::Value> outputs,
                     llvm::ArrayRef<std::string> names);
  State *getState(llvm::StringRef name);

  std::shared_ptr<const LoadedModel> loaded;
  const Graphs &graphs;
  Checkpoint &checkpoint;
  const ImportOptions &options;
  Problems &problems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool isRebound;
  Customs customs;
  Lengths lengths;
  /// The variables that nodes assign, by name.
  llvm::StringMap<bool> assigned;
  llvm::MapVector<mlir::StringAttr, State> states;
  /// The contents of lookup tables by name, once one is read.
  std::optional<llvm::StringMap<TableContents>> tables;
  /// The values of variables that are constants, in the main function.
  llvm::StringMap<mlir::Value> constants;
  /// The functions whose nodes are being imported, outermost first.
  llvm::SmallVector<const Graph *> active;
  /// The number of nodes that were imported through calls.
  int64_t inlined = 0;

  MissingOperators missing;
  friend class Attempt;
};

class Attempt : public AttemptWithMissing<MissingOperators> {
public:
  explicit Attempt(GraphImporter &importer)
      : AttemptWithMissing(importer.problems, importer.missing) {}
};

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_GRAPH_IMPORTER_H
