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
#include "frontends/tflite/file/Load.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

#include <map>

namespace nnc::tflite {

class Layer;

/// A subgraph while it is imported, with the values of its tensors.
struct Scope {
  const fb::SubGraph *graph;
  std::string prefix; ///< of names of tensors, in messages
  /// By tensor: nothing until something computes it, null where that failed.
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

/// A value that the model keeps between runs: an argument and a result of the
/// function.
struct Variable {
  std::string name;
  mlir::BlockArgument argument;
  mlir::Value value; ///< as operators have left it so far
  mlir::ElementsAttr initial;
};

class GraphImporter {
public:
  /// `isRebound` says that the user chose other sizes for inputs than the model
  /// states, so that it states other sizes of tensors, too.
  GraphImporter(const LoadedModel &loaded, const ImportOptions &options,
                Problems &problems, mlir::func::FuncOp function,
                bool isRebound);

  /// Imports the main subgraph into the function; problems are reported.
  void run(llvm::ArrayRef<std::string> outputs, llvm::ArrayRef<Input> inputs);

  /// Imports a subgraph whose inputs are these, for an operator that stands in
  /// another one. Returns false, and reports why, if that fails.
  bool inlineGraph(uint32_t subgraph, const Scope &scope, const Layer &caller,
                   llvm::ArrayRef<Passed> inputs,
                   llvm::SmallVectorImpl<Passed> &results);

  /// The values of all variables, as operators have left them so far.
  llvm::SmallVector<mlir::Value> getVariableValues() const;
  /// The value with which runs begin, of variable `i` of these.
  mlir::Value getFirstValue(size_t i) const {
    return variables.begin()[i].second->argument;
  }
  /// Gives variables the values that they had; those that have been made since
  /// get the values that runs begin with.
  void setVariableValues(llvm::ArrayRef<mlir::Value> values);
  /// Whether operators are imported that may run or not.
  bool isConditional() const { return conditional; }
  void setConditional(bool on) { conditional = on; }

  Customs &getCustoms() { return customs; }
  const LoadedModel &getModel() const { return loaded; }
  const ImportOptions &getOptions() const { return options; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The value of a tensor: what computes it, or its constant. Null, and a
  /// report at `loc`, if there is none.
  mlir::Value getValue(Scope &scope, int32_t tensor, mlir::Location loc);

  /// The variable of that key, which is made with a first value of zeros if it
  /// is new. Null, and a report at `loc`, if it has another type by now.
  Variable *getVariable(llvm::StringRef key, llvm::StringRef name,
                        mlir::RankedTensorType type, mlir::Location loc);
  /// The variable that a tensor with is_variable names, of the type that the
  /// tensor states or of `type`.
  Variable *getVariable(Scope &scope, int32_t tensor, mlir::Location loc,
                        mlir::RankedTensorType type = {});
  /// The index of a subgraph in the model.
  unsigned getNumber(const fb::SubGraph *graph) const;
  /// Whether operators are imported that prepare the model's first run.
  bool isPreparing() const { return preparing; }
  /// Whether calls and loops have more operators than --limit allows.
  bool hasTooManyOperators() const {
    return inlined > problems.getLimits().nodes;
  }
  /// Imports a subgraph that prepares the model's first run.
  void prepare(uint32_t subgraph, const Scope &scope, const Layer &caller);

private:
  void importOperators(Scope &scope);
  void importOperator(Scope &scope, const fb::Operator &op, unsigned index);
  void checkResult(Scope &scope, int32_t tensor, mlir::Value value,
                   llvm::StringRef op, mlir::Location loc, bool isShapeOpen);
  mlir::ElementsAttr getConstant(Scope &scope, int32_t tensor);
  /// Whether a subgraph may be called now; else reports why not.
  bool mayInline(uint32_t subgraph, const Layer &caller,
                 llvm::ArrayRef<Passed> inputs);
  void reportUnsupported();
  void returnResults(llvm::ArrayRef<mlir::Value> outputs,
                     llvm::ArrayRef<std::string> names);
  void markQuantizedPorts(const Scope &scope, llvm::ArrayRef<Input> inputs);
  /// Takes over the results of a layer, `op` in messages.
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
  /// The values that are kept between runs, by key.
  llvm::MapVector<mlir::StringAttr, std::unique_ptr<Variable>> variables;
  Customs customs;
  /// The subgraphs whose operators are being imported, outermost first.
  llvm::SmallVector<uint32_t> active = {0};
  /// Constants, by subgraph and tensor: each is one value however often its
  /// subgraph is called.
  std::map<std::pair<const fb::SubGraph *, int32_t>, mlir::Value> constants;
  /// How many operators calls have imported.
  int64_t inlined = 0;

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

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_GRAPH_H
