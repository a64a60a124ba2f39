//===- Registry.cpp - All frontends ---------------------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/Registry.h"

#include "frontends/common/Problems.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc;
using namespace nnc::frontends;
namespace fs = llvm::sys::fs;

#define NNC_FRONTEND(name)                                                     \
  namespace nnc::name {                                                        \
  const Frontend &getFrontend();                                               \
  }
#include "frontends/frontends.inc"

ArrayRef<const Frontend *> nnc::frontends::getFrontends() {
  static const Frontend *const all[] = {
#define NNC_FRONTEND(name) &nnc::name::getFrontend(),
#include "frontends/frontends.inc"
  };
  return all;
}

std::string nnc::frontends::describeFormats() {
  SmallVector<std::string> formats;
  for (const Frontend *frontend : getFrontends())
    formats.push_back(
        (frontend->name + " (" + frontend->extensions + ")").str());
  return llvm::join(formats, ", ");
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
/// A format that nnc does not read: a line of signatures.inc.
struct Signature {
  size_t offset;
  StringLiteral bytes, format, advice;
};
} // namespace

static constexpr Signature kSignatures[] = {
#define NNC_SIGNATURE(offset, bytes, format, advice)                           \
  {offset, StringLiteral::withInnerNUL(bytes), format, advice},
#include "frontends/signatures.inc"
};

static const Signature *findSignature(StringRef start) {
  for (const Signature &signature : kSignatures)
    if (start.substr(signature.offset).starts_with(signature.bytes))
      return &signature;
  return nullptr;
}

/// Returns the frontend of a file; null, and a report, if there is none. Known
/// signatures come before formats without one: these accept more than is
/// theirs.
static const Frontend *pickFrontend(const FileStart &start,
                                    Problems &problems) {
  for (const Frontend *frontend : getFrontends())
    if (frontend->hasMagic && frontend->recognizes(start))
      return frontend;
  if (const Signature *signature = findSignature(start.bytes)) {
    problems.report(ImportStatus::broken)
        << "is not a model that nnc reads: it looks like " << signature->format
        << "; " << signature->advice;
    return nullptr;
  }
  for (const Frontend *frontend : getFrontends())
    if (!frontend->hasMagic && frontend->recognizes(start))
      return frontend;
  problems.report(ImportStatus::broken)
      << "is not a model that nnc reads, which are " << describeFormats()
      << "; if it should be one, the file is damaged or was not fetched as a "
         "whole";
  return nullptr;
}

ImportResult nnc::frontends::importModel(StringRef path,
                                         const ImportOptions &options,
                                         MLIRContext &context) {
  Problems problems(context, path);
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken) << why;
    ImportResult result;
    result.status = problems.getStatus();
    return result;
  };
  fs::file_status info;
  if (std::error_code error = fs::status(path, info))
    return fail("cannot be read: " + error.message());
  // Opening a pipe or a device could wait forever.
  if (!fs::is_regular_file(info))
    return fail("is not a file");
  auto start = readFileStart(path);
  if (!start)
    return fail("cannot be read: " + start.getError().message());
  if (start->size == 0)
    return fail("is empty");
  const Frontend *frontend = pickFrontend(*start, problems);
  if (frontend)
    return frontend->importModel(path, options, context);
  ImportResult result;
  result.status = problems.getStatus();
  return result;
}

//===----------------------------------------------------------------------===//
// Test data
//===----------------------------------------------------------------------===//

SmallVector<StringRef> nnc::frontends::getTensorExtensions() {
  SmallVector<StringRef> extensions;
  for (const Frontend *frontend : getFrontends())
    if (frontend->readTensor)
      extensions.push_back(frontend->tensorExtension);
  return extensions;
}

llvm::Expected<RawTensor> nnc::frontends::readTensorFile(StringRef path) {
  for (const Frontend *frontend : getFrontends())
    if (frontend->readTensor &&
        llvm::sys::path::extension(path) == frontend->tensorExtension)
      return frontend->readTensor(path);
  return llvm::createStringError(path + " is no file of a tensor that nnc "
                                        "reads");
}
