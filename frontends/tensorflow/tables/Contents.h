//===- Contents.h - Contents of lookup tables -------------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_TENSORFLOW_TABLES_CONTENTS_H
#define NNC_FRONTENDS_TENSORFLOW_TABLES_CONTENTS_H

#include "frontends/tensorflow/graph/Graph.h"

namespace nnc::tensorflow {

/// The constants from which a model fills a lookup table; null if there are
/// none, or several.
struct TableContents {
  const pb::NodeDef *keys = nullptr, *values = nullptr;
};

/// Returns the contents of the tables of numbers of a model by the names of
/// their nodes. Nodes that fill tables are in the main graph or in functions
/// that it calls, and no output depends on them.
llvm::StringMap<TableContents> findTables(const Graphs &graphs,
                                          const Limits &limits);

/// Returns true if the lookup table that `node` makes, fills or reads has keys
/// and values that are numbers.
bool isNumberTable(const pb::NodeDef &node);

} // namespace nnc::tensorflow

#endif // NNC_FRONTENDS_TENSORFLOW_TABLES_CONTENTS_H
