//===- Recognize.h - Whether a file is of Caffe -----------------*- C++ -*-===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#ifndef NNC_FRONTENDS_CAFFE_FILE_RECOGNIZE_H
#define NNC_FRONTENDS_CAFFE_FILE_RECOGNIZE_H

#include "frontends/common/Frontend.h"

namespace nnc::caffe {

/// Returns true if a file is a network in Caffe's text format or a .caffemodel,
/// whole or damaged.
bool recognizes(const frontends::FileStart &start);

/// Returns true if a file that starts with `bytes` is a .caffemodel.
bool isCaffemodel(llvm::StringRef bytes);

} // namespace nnc::caffe

#endif // NNC_FRONTENDS_CAFFE_FILE_RECOGNIZE_H
