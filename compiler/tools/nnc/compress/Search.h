//===- Search.h - Which layers are compressed less --------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_TOOLS_NNC_COMPRESS_SEARCH_H
#define NNC_TOOLS_NNC_COMPRESS_SEARCH_H

#include "compiler/tools/nnc/compress/CompressSession.h"

namespace nnc::tools {

/// Compresses the most sensitive layers less until the drop of the metric is
/// allowed: first as many as needed get 256 clusters; if all of them are not
/// enough, the most sensitive ones keep their own weights, and then as many of
/// the others as possible get their fewer clusters back. `evaluation` is that
/// of the model with all layers compressed as wanted, and becomes that of the
/// result. `evaluated` counts the models.
ExitCode limitDrop(CompressSession &session, CompressEvaluation &evaluation,
                   int &evaluated);

} // namespace nnc::tools

#endif // NNC_TOOLS_NNC_COMPRESS_SEARCH_H
