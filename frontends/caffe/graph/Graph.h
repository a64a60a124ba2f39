//===- Graph.h - Walks a network's layers -----------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_GRAPH_GRAPH_H
#define NNC_FRONTENDS_CAFFE_GRAPH_GRAPH_H

#include "frontends/caffe/Ops.h"
#include "frontends/caffe/file/Load.h"
#include "frontends/caffe/graph/LayerWeights.h"
#include "frontends/common/Customs.h"
#include "frontends/common/Inputs.h"
#include "frontends/common/Missing.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>

namespace nnc::caffe {

/// Returns the function that the user gives for layers of this type, or null.
/// A layer in Python goes by "MODULE.LAYER".
const CustomFunction *findCustom(Customs &customs,
                                 const schema::LayerParameter &param);

/// Imports the layers of a network in the order of the file, in which Caffe
/// runs them.
class GraphImporter {
public:
  /// `fileProblems` are those of the files, whatever the sizes of inputs.
  /// `topShapes` are the shapes that the user gives for what custom layers
  /// compute.
  GraphImporter(const LoadedModel &loaded, const ImportOptions &options,
                const GivenShapes &topShapes, Problems &problems,
                Problems &fileProblems, mlir::func::FuncOp function);

  /// Imports all layers into the function. Reports problems.
  void run(llvm::ArrayRef<Input> inputs);

private:
  /// The current value of a blob, which layers that work in place change.
  struct BlobValue {
    mlir::Value value;  ///< null after an error
    std::string source; ///< the layer that computed it
  };

  void importLayer(const schema::LayerParameter &param);
  bool readBottoms(const schema::LayerParameter &param, const OpInfo &info,
                   llvm::SmallVectorImpl<mlir::Value> &bottoms);
  void setTops(const schema::LayerParameter &param,
               llvm::ArrayRef<mlir::Value> values);
  void importCustom(const schema::LayerParameter &param,
                    const CustomFunction &function);
  bool collectBottoms(const schema::LayerParameter &param, size_t most,
                      llvm::SmallVectorImpl<mlir::Value> &bottoms);
  void noteUnsupported(const schema::LayerParameter &param);
  void reportMissingWeights();
  mlir::Location getLoc(const schema::LayerParameter &param) const;

  const LoadedModel &loaded;
  const GivenShapes &topShapes;
  Problems &problems, &fileProblems;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  LayerWeights weights;
  Customs customs;
  llvm::StringMap<BlobValue> blobs;
  /// The blobs that no layer has read, by name: in the end, the outputs.
  std::set<std::string> unread;
  /// The last layer that computes each blob.
  llvm::StringMap<std::string> computedBy;

  MissingOperators missing;
};

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_GRAPH_GRAPH_H
