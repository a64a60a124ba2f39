//===- Params.cpp - Reads an MXNet file of parameters ---------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/mxnet/file/Params.h"

#include "frontends/common/Elements.h"
#include "frontends/common/Limits.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace nnc::mxnet;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct ElementType {
  StringLiteral name;
  unsigned bytes;
};
} // namespace

/// MXNet's element types, by their numbers.
static constexpr ElementType kTypes[] = {
    {"float32", 4}, {"float64", 8}, {"float16", 2}, {"uint8", 1}, {"int32", 4},
    {"int8", 1},    {"int64", 8},   {"bool", 1},    {"int16", 2}, {"uint16", 2},
    {"uint32", 4},  {"uint64", 8},  {"bfloat16", 2}};
static constexpr int64_t kHalf = 2, kBrainHalf = 12;

static bool isKnown(int64_t type) {
  return type >= 0 && type < int64_t(std::size(kTypes));
}

Type nnc::mxnet::getElementType(MLIRContext *context, int64_t type) {
  Builder builder(context);
  switch (type) {
  case 0:
  case kHalf:
  case kBrainHalf:
    return builder.getF32Type();
  case 1:
    return builder.getF64Type();
  case 3:
    return builder.getIntegerType(8, /*isSigned=*/false);
  case 4:
    return builder.getI32Type();
  case 5:
    return builder.getI8Type();
  case 6:
    return builder.getI64Type();
  case 7:
    return builder.getI1Type();
  default:
    return {};
  }
}

std::string nnc::mxnet::getTypeName(int64_t type) {
  return isKnown(type) ? kTypes[type].name.str()
                       : "number " + std::to_string(type);
}

int64_t nnc::mxnet::getTypeNumber(StringRef name) {
  for (const auto &[i, type] : llvm::enumerate(kTypes))
    if (type.name == name)
      return int64_t(i);
  return -1;
}

//===----------------------------------------------------------------------===//
// The file's name
//===----------------------------------------------------------------------===//

std::optional<std::string>
nnc::mxnet::findParams(StringRef symbol, StringRef given, Problems &problems) {
  if (!given.empty())
    return given.str();
  StringRef prefix = path::filename(symbol);
  SmallString<128> folder = path::parent_path(symbol);
  if (folder.empty())
    folder = ".";
  std::vector<std::string> found;
  if (prefix.consume_back("-symbol.json")) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; it != end && !error;
         it.increment(error)) {
      StringRef name = path::filename(it->path());
      if (name.consume_front(prefix) && name.consume_front("-") &&
          name.consume_back(".params") && name.size() == 4 &&
          llvm::all_of(name, llvm::isDigit))
        found.push_back(it->path());
    }
  }
  if (found.size() == 1)
    return found.front();
  auto diagnostic = problems.report(ImportStatus::unbound);
  llvm::sort(found);
  if (found.empty())
    diagnostic << "is the graph of a network without its parameters; "
                  "--weights=FILE.params names them (a single "
                  "PREFIX-NNNN.params beside PREFIX-symbol.json is found "
                  "without it)";
  else
    diagnostic << "has " << found.size() << " files of parameters beside it, "
               << path::filename(found.front()) << " to "
               << path::filename(found.back())
               << "; name one with --weights=FILE.params";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

namespace {
/// The magic numbers of arrays. Arrays of the oldest format begin with their
/// number of axes instead.
constexpr uint32_t kV1 = 0xF993FAC8, kV2 = 0xF993FAC9, kV3 = 0xF993FACA;
/// The largest number of axes of an array of the oldest format.
constexpr uint32_t kMostAxes = 32;
constexpr uint64_t kListMagic = 0x112;

/// The reader of a list of arrays.
class ListReader {
public:
  ListReader(Params &params, Problems &problems)
      : params(params), problems(problems), rest(params.file->getBuffer()) {}

  bool run();

private:
  /// An array whose name follows behind all arrays.
  struct Array {
    Param param;
    bool isNone = false;
    StringRef sparse = ""; ///< the storage of a sparse array
  };

  bool fail(const Twine &why) {
    problems.report(ImportStatus::broken)
        << "has parameters in '" << path::filename(params.path) << "', which "
        << why;
    return false;
  }
  template <class T> bool read(T &to) {
    if (rest.size() < sizeof(T))
      return fail("ends too early; copy or save it again");
    to = llvm::support::endian::read<T, llvm::endianness::little>(rest.data());
    rest = rest.drop_front(sizeof(T));
    return true;
  }
  /// Reads the axes of a shape, each of type T.
  template <class T> bool readAxes(uint32_t count, SmallVector<int64_t> &to);
  bool readShape(SmallVector<int64_t> &to, bool &isNone, bool mayBeScalar);
  bool readArray(Array &array);
  bool readData(Array &array);
  bool readAuxiliary(Array &array, int32_t storage);
  bool skip(uint64_t bytes, StringRef &skipped);
  /// Returns the number of bytes of an array; nullopt if it overflows.
  static std::optional<uint64_t> countBytes(ArrayRef<int64_t> shape,
                                            int32_t type);
  bool addNamed(ArrayRef<Array> arrays);

  Params &params;
  Problems &problems;
  StringRef rest;
};
} // namespace

template <class T>
bool ListReader::readAxes(uint32_t count, SmallVector<int64_t> &to) {
  if (count > kMostAxes)
    return fail("has an array of " + Twine(count) + " axes: it is damaged");
  for (uint32_t i = 0; i < count; ++i) {
    T size = 0;
    if (!read(size))
      return false;
    if (int64_t(size) < 0)
      return fail("has an array with a negative size: it is damaged");
    to.push_back(int64_t(size));
  }
  return true;
}

bool ListReader::readShape(SmallVector<int64_t> &to, bool &isNone,
                           bool mayBeScalar) {
  uint32_t count = 0;
  if (!read(count))
    return false;
  // Since version 3, -1 stands for an unknown shape, and 0 for a scalar.
  isNone = mayBeScalar ? count == UINT32_MAX : count == 0;
  return isNone || readAxes<int64_t>(count, to);
}

std::optional<uint64_t> ListReader::countBytes(ArrayRef<int64_t> shape,
                                               int32_t type) {
  int64_t bytes = kTypes[type].bytes;
  for (int64_t size : shape)
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  return uint64_t(bytes);
}

bool ListReader::skip(uint64_t bytes, StringRef &skipped) {
  if (bytes > rest.size())
    return fail("ends before the elements of an array: " + Twine(bytes) +
                " bytes are needed, and " + Twine(rest.size()) +
                " are left; copy or save it again");
  skipped = rest.take_front(bytes);
  rest = rest.drop_front(bytes);
  return true;
}

bool ListReader::readAuxiliary(Array &array, int32_t storage) {
  // Rows have one list of indices; compressed rows have two.
  SmallVector<std::pair<int32_t, SmallVector<int64_t>>> lists(storage);
  for (auto &[type, shape] : lists) {
    bool isNone = false;
    if (!read(type) || !readShape(shape, isNone, /*mayBeScalar=*/false))
      return false;
    if (!isKnown(type))
      return fail("has indices of type " + Twine(type) + ": it is damaged");
  }
  auto bytes = countBytes(array.param.shape, array.param.type);
  if (!bytes)
    return fail("has an array whose size overflows: it is damaged");
  if (!skip(*bytes, array.param.bytes))
    return false;
  for (auto &[type, shape] : lists) {
    auto size = countBytes(shape, type);
    StringRef indices;
    if (!size)
      return fail("has indices whose size overflows: it is damaged");
    if (!skip(*size, indices))
      return false;
  }
  return true;
}

bool ListReader::readData(Array &array) {
  int32_t device = 0, number = 0;
  if (!read(device) || !read(number) || !read(array.param.type))
    return false;
  if (!isKnown(array.param.type))
    return fail("has an array of type " + Twine(array.param.type) +
                ", which MXNet 1.9 does not know: it is damaged");
  if (!array.sparse.empty())
    return readAuxiliary(array, array.sparse == "csr" ? 2 : 1);
  auto bytes = countBytes(array.param.shape, array.param.type);
  if (!bytes)
    return fail("has an array whose size overflows: it is damaged");
  return skip(*bytes, array.param.bytes);
}

bool ListReader::readArray(Array &array) {
  uint32_t magic = 0;
  if (!read(magic))
    return false;
  SmallVector<int64_t> &shape = array.param.shape;
  if (magic == kV2 || magic == kV3) {
    int32_t storage = 0;
    bool isNone = false;
    if (!read(storage))
      return false;
    if (storage < 0 || storage > 2)
      return fail("has an array with the storage " + Twine(storage) +
                  ": it is damaged");
    array.sparse = storage == 0 ? "" : storage == 1 ? "row_sparse" : "csr";
    SmallVector<int64_t> dense;
    // The shape of what a sparse array stores stands before its own.
    if (storage != 0 && !readShape(shape, isNone, magic == kV3))
      return false;
    if (!readShape(storage == 0 ? shape : dense, array.isNone, magic == kV3))
      return false;
  } else if (magic == kV1) {
    if (!readShape(shape, array.isNone, /*mayBeScalar=*/false))
      return false;
  } else {
    array.isNone = magic == 0;
    if (!readAxes<uint32_t>(magic, shape))
      return false;
  }
  return array.isNone || readData(array);
}

bool ListReader::addNamed(ArrayRef<Array> arrays) {
  uint64_t count = 0;
  if (!read(count))
    return false;
  if (count != arrays.size())
    return fail("has " + Twine(count) + " names for " + Twine(arrays.size()) +
                " arrays" +
                (count == 0 ? "; save a dictionary with nd.save, not a list"
                            : ": it is damaged"));
  bool isSound = true;
  for (const Array &array : arrays) {
    uint64_t length = 0;
    StringRef name;
    if (!read(length) || !skip(length, name))
      return false;
    if (!name.consume_front("arg:"))
      name.consume_front("aux:");
    if (!llvm::json::isUTF8(name))
      return fail("has a name that is not UTF-8: it is damaged");
    if (!array.sparse.empty()) {
      problems.report(ImportStatus::unsupported, problems.getLoc(name))
          << "is a sparse parameter (" << array.sparse
          << "); nnc reads dense ones: save it with tostype('default')";
      isSound = false;
    } else if (!array.isNone &&
               !params.arrays.try_emplace(name, array.param).second) {
      return fail("has two arrays '" + name + "': it is damaged");
    }
  }
  return isSound;
}

bool ListReader::run() {
  uint64_t magic = 0, reserved = 0, count = 0;
  StringRef all = rest;
  if (all.starts_with("PK\003\004"))
    return fail("is a zip archive, as MXNet 2 writes it; nnc reads files of "
                "MXNet 0.8 to 1.9: save it there");
  if (all.ltrim().starts_with("{"))
    return fail("is JSON, not a file of parameters; MODEL is the symbol, and "
                "--weights names the .params file");
  if (!read(magic))
    return false;
  if (magic != kListMagic)
    return fail("is not a file of parameters of MXNet: it does not begin with "
                "the bytes 12 01 00 00 00 00 00 00");
  if (!read(reserved) || !read(count))
    return false;
  // An array takes at least four bytes, so that the file bounds their number.
  if (count > rest.size() / 4)
    return fail("states " + Twine(count) +
                " arrays, more than fit into it: "
                "it is damaged");
  std::vector<Array> arrays(count);
  for (Array &array : arrays)
    if (!readArray(array))
      return false;
  return addNamed(arrays);
}

std::optional<Params> nnc::mxnet::loadParams(StringRef path,
                                             Problems &problems) {
  Params params;
  params.path = path.str();
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken)
        << "has parameters in '" << path::filename(path)
        << "', which cannot be read: " << why;
    return std::nullopt;
  };
  fs::file_status info;
  if (std::error_code error = fs::status(path, info))
    return fail(error.message());
  // Opening a pipe could wait forever.
  if (!fs::is_regular_file(info))
    return fail("it is not a file");
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(file.getError().message());
  params.file = std::move(*file);
  if (!ListReader(params, problems).run())
    return std::nullopt;
  return params;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Returns halves as floats of 32 bits.
static AsmResourceBlob widen(StringRef bytes, const llvm::fltSemantics &type) {
  size_t count = bytes.size() / 2;
  AsmResourceBlob blob = HeapAsmResourceBlob::allocate(4 * count, 4);
  char *to = blob.getMutableData().data();
  for (size_t i = 0; i < count; ++i) {
    uint16_t bits = llvm::support::endian::read16le(bytes.data() + 2 * i);
    float value = llvm::APFloat(type, llvm::APInt(16, bits)).convertToFloat();
    std::memcpy(to + 4 * i, &value, 4);
  }
  return blob;
}

ElementsAttr nnc::mxnet::makeConstant(const Params &params, const Param &param,
                                      StringRef name, Problems &problems,
                                      Location loc) {
  Type element = getElementType(loc.getContext(), param.type);
  if (!element) {
    problems.reportLasting(ImportStatus::unsupported, loc)
        << "is a parameter of type " << getTypeName(param.type)
        << ", which nnc does not handle";
    return {};
  }
  if (auto problem =
          findSizeProblem(param.shape, element, problems.getLimits())) {
    problems.reportLasting(ImportStatus::limit, loc)
        << "is a parameter, one " << *problem;
    return {};
  }
  auto type = RankedTensorType::get(param.shape, element);
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  if (param.type == kHalf)
    return makeElements(type, name,
                        widen(param.bytes, llvm::APFloat::IEEEhalf()));
  if (param.type == kBrainHalf)
    return makeElements(type, name,
                        widen(param.bytes, llvm::APFloat::BFloat()));
  size_t align = kTypes[param.type].bytes;
  ArrayRef<char> data(param.bytes.data(), param.bytes.size());
  if (reinterpret_cast<uintptr_t>(data.data()) % align)
    return makeElements(
        type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(data, align));
  // The file stays mapped for as long as a constant reads it.
  auto keep = [file = params.file](void *, size_t, size_t) {};
  return makeElements(
      type, name, AsmResourceBlob(data, align, keep, /*dataIsMutable=*/false));
}
