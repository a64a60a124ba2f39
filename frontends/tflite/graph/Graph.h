//===- Graph.h - Walks a model's subgraphs --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_GRAPH_GRAPH_H
#define NNC_FRONTENDS_TFLITE_GRAPH_GRAPH_H

#include "frontends/common/Attempt.h"
#include "frontends/common/Customs.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Missing.h"
#include "frontends/tflite/file/Load.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace nnc::tflite {

class Layer;

/// A subgraph that is being imported, with the values of its tensors.
struct Scope {
  const fb::SubGraph *graph;
  std::string prefix; ///< prefix of names of tensors in messages
  /// The value of each tensor: nullopt until an operator computes it, null if
  /// that failed.
  std::vector<std::optional<mlir::Value>> values = {};
  /// The names of the variables that tensors of type RESOURCE stand for.
  std::map<int32_t, std::string> handles = {};
};

/// An operand or result of a subgraph: a value, or the handle of a variable.
struct Passed {
  mlir::Value value = {};
  std::string handle = "";
  bool isHandle = false;
};

/// A variable of the model, which keeps its value between runs: an argument and
/// a result of the function.
struct Variable {
  std::string name;
  mlir::BlockArgument argument;
  mlir::Value value; ///< value after the operators imported so far
  mlir::ElementsAttr initial;
};

class GraphImporter {
public:
  /// `isRebound` tells that the user chose other sizes for inputs than the
  /// model states, so that the shapes of tensors in the model do not hold.
  GraphImporter(const LoadedModel &loaded, const ImportOptions &options,
                Problems &problems, mlir::func::FuncOp function,
                bool isRebound);

  /// Imports the main subgraph into the function and reports problems.
  void run(llvm::ArrayRef<std::string> outputs, llvm::ArrayRef<Input> inputs);

  /// Imports a subgraph in place on the values `inputs`, for the operator
  /// `caller` that runs it. Returns false after an error.
  bool inlineGraph(uint32_t subgraph, const Scope &scope, const Layer &caller,
                   llvm::ArrayRef<Passed> inputs,
                   llvm::SmallVectorImpl<Passed> &results);

  /// Returns the current values of all variables, after the operators that were
  /// imported so far.
  llvm::SmallVector<mlir::Value> getVariableValues() const;
  /// Returns the value that variable `i` has at the beginning of a run.
  mlir::Value getFirstValue(size_t i) const {
    return variables.begin()[i].second->argument;
  }
  /// Restores the values of all variables from getVariableValues(). Variables
  /// that were created since then get their first values.
  void setVariableValues(llvm::ArrayRef<mlir::Value> values);
  /// Returns whether a branch or a loop body is being imported, whose operators
  /// may not run.
  bool isConditional() const { return conditional; }
  void setConditional(bool on) { conditional = on; }

  Customs &getCustoms() { return customs; }
  const LoadedModel &getModel() const { return loaded; }
  const ImportOptions &getOptions() const { return options; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// Returns the value of a tensor: the result of the operator that computes
  /// it, or a constant. Returns null, after an error at `loc`, if the tensor
  /// has neither.
  mlir::Value getValue(Scope &scope, int32_t tensor, mlir::Location loc);

  /// Returns the variable `key`, which is created with zeros as its first value
  /// if there is none. Returns null, after an error at `loc`, if it exists with
  /// another type.
  Variable *getVariable(llvm::StringRef key, llvm::StringRef name,
                        mlir::RankedTensorType type, mlir::Location loc);
  /// Returns the variable of a tensor with `is_variable`. Its type is the one
  /// that the model states, or `type`.
  Variable *getVariable(Scope &scope, int32_t tensor, mlir::Location loc,
                        mlir::RankedTensorType type = {});
  /// Returns the index of a subgraph in the model.
  unsigned getNumber(const fb::SubGraph *graph) const;
  /// Returns true while operators are imported that run only once, before the
  /// model's first run.
  bool isPreparing() const { return preparing; }
  /// Returns true if calls and loops expand to more operators than --limit
  /// allows.
  bool hasTooManyOperators() const {
    return inlined > problems.getLimits().nodes;
  }
  /// Imports a subgraph that runs only once, before the model's first run.
  void prepare(uint32_t subgraph, const Scope &scope, const Layer &caller);

private:
  void importOperators(Scope &scope);
  void importOperator(Scope &scope, const fb::Operator &op, unsigned index);
  void checkResult(Scope &scope, int32_t tensor, mlir::Value value,
                   llvm::StringRef op, mlir::Location loc, bool isShapeOpen);
  mlir::ElementsAttr getConstant(Scope &scope, int32_t tensor);
  /// Returns whether a subgraph may be called here; reports why not otherwise.
  bool mayInline(uint32_t subgraph, const Layer &caller,
                 llvm::ArrayRef<Passed> inputs);
  void returnResults(llvm::ArrayRef<mlir::Value> outputs,
                     llvm::ArrayRef<std::string> names);
  void markQuantizedPorts(const Scope &scope, llvm::ArrayRef<Input> inputs);
  /// Assigns the results of `layer` to the tensors `outputs`. `op` is the
  /// operator's name in messages.
  void takeResults(Scope &scope, Layer &layer, llvm::ArrayRef<int32_t> outputs,
                   llvm::StringRef op);

  const LoadedModel &loaded;
  const ImportOptions &options;
  Problems &problems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool isRebound;
  bool preparing = false;
  bool conditional = false;
  /// The variables of the model by key.
  llvm::MapVector<mlir::StringAttr, std::unique_ptr<Variable>> variables;
  Customs customs;
  /// The subgraphs whose operators are being imported, outermost first.
  llvm::SmallVector<uint32_t> active = {0};
  /// The constants by subgraph and tensor. Each is a single value, however
  /// often its subgraph is called.
  std::map<std::pair<const fb::SubGraph *, int32_t>, mlir::Value> constants;
  /// The number of operators that were imported through calls of subgraphs.
  int64_t inlined = 0;

  MissingOperators missing;
  friend class Attempt;
};

class Attempt : public AttemptWithMissing<MissingOperators> {
public:
  explicit Attempt(GraphImporter &importer)
      : AttemptWithMissing(importer.problems, importer.missing) {}
};

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_GRAPH_H
