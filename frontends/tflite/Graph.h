//===- Graph.h - Walks a model's subgraphs --------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TFLITE_GRAPH_H
#define NNC_FRONTENDS_TFLITE_GRAPH_H

#include "frontends/tflite/Load.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace nnc::tflite {

/// A subgraph while it is imported, with the values of its tensors.
struct Scope {
  const fb::SubGraph *graph;
  std::string prefix; ///< of names of tensors, in messages
  /// By tensor: nothing until something computes it, null where that failed.
  std::vector<std::optional<mlir::Value>> values = {};
};

class GraphImporter {
public:
  /// `isRebound` says that the user chose other sizes for inputs than the model
  /// states, so that it states other sizes of tensors, too.
  GraphImporter(const LoadedModel &loaded, const ImportOptions &options,
                Problems &problems, mlir::func::FuncOp function,
                bool isRebound);

  /// Imports the main subgraph into the function; problems are reported.
  void run(llvm::ArrayRef<std::string> outputs);

  /// Imports a subgraph whose inputs have these values. Returns false, and
  /// reports why, if that fails.
  bool inlineGraph(uint32_t subgraph, const Scope &caller,
                   llvm::ArrayRef<mlir::Value> inputs,
                   llvm::SmallVectorImpl<mlir::Value> &results);

  const LoadedModel &getModel() const { return loaded; }
  const ImportOptions &getOptions() const { return options; }
  Problems &getProblems() { return problems; }
  mlir::OpBuilder &getBuilder() { return builder; }

  /// The value of a tensor: what computes it, or its constant. Null, and a
  /// report at `loc`, if there is none.
  mlir::Value getValue(Scope &scope, int32_t tensor, mlir::Location loc);

private:
  void importOperators(Scope &scope);
  void importOperator(Scope &scope, const fb::Operator &op, unsigned index);
  void checkResult(Scope &scope, int32_t tensor, mlir::Value value,
                   llvm::StringRef op, mlir::Location loc);
  mlir::ElementsAttr getConstant(Scope &scope, int32_t tensor);
  /// Whether a subgraph may be called now; else reports why not.
  bool mayInline(uint32_t subgraph, llvm::ArrayRef<mlir::Value> inputs);
  void reportUnsupported();

  const LoadedModel &loaded;
  const ImportOptions &options;
  Problems &problems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  bool isRebound;
  /// The subgraphs whose operators are being imported, outermost first.
  llvm::SmallVector<uint32_t> active = {0};
  /// How many operators calls have imported.
  int64_t inlined = 0;

  struct Missing {
    mlir::Location first;
    int64_t count;
  };
  /// Operators that nnc lacks, by name.
  llvm::MapVector<mlir::StringAttr, Missing> missing;
};

} // namespace nnc::tflite

#endif // NNC_FRONTENDS_TFLITE_GRAPH_H
