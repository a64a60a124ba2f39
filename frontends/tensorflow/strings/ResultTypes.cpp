//===- ResultTypes.cpp - Element types of nodes' results ------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/tensorflow/strings/ResultTypes.h"

#include "frontends/tensorflow/tables/Contents.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace nnc::tensorflow;

namespace {
/// The results of an operator. They are separated by spaces, each "name=type",
/// where the type is
///   * that of a tensor, such as int64;
///   * @attribute, which is a type, or a list with the type of each result;
///   * type*attribute, for as many results as the attribute counts.
struct ResultRow {
  StringLiteral op, results;
};
} // namespace

// clang-format off
static constexpr ResultRow kResults[] = {
  {"DecodeAndCropJpeg", "image=uint8"},
  {"DecodeBase64", "output=string"},
  {"DecodeBmp", "image=uint8"},
  {"DecodeCSV", "output=@OUT_TYPE"},
  {"DecodeCompressed", "output=string"},
  {"DecodeGif", "image=uint8"},
  {"DecodeImage", "image=@dtype"},
  {"DecodeJpeg", "image=uint8"},
  {"DecodePaddedRaw", "output=@out_type"},
  {"DecodePng", "image=@dtype"},
  {"DecodeRaw", "output=@out_type"},
  {"DecodeWav", "audio=float32 sample_rate=int32"},
  {"ExtractJpegShape", "image_shape=@output_type"},
  {"HashTable", "table_handle=resource"},
  {"HashTableV2", "table_handle=resource"},
  {"LookupTableFind", "values=@Tout"},
  {"LookupTableFindV2", "values=@Tout"},
  {"LookupTableSize", "size=int64"},
  {"LookupTableSizeV2", "size=int64"},
  {"MutableHashTable", "table_handle=resource"},
  {"MutableHashTableV2", "table_handle=resource"},
  {"ParseExample", "sparse_indices=int64*Nsparse sparse_values=@sparse_types "
                   "sparse_shapes=int64*Nsparse dense_values=@Tdense"},
  {"ParseExampleV2", "sparse_indices=int64*num_sparse sparse_values=@sparse_types "
                     "sparse_shapes=int64*num_sparse dense_values=@Tdense "
                     "ragged_values=@ragged_value_types ragged_row_splits=@ragged_split_types"},
  {"ParseSingleExample", "sparse_indices=int64*num_sparse sparse_values=@sparse_types "
                         "sparse_shapes=int64*num_sparse dense_values=@Tdense"},
  {"ParseTensor", "output=@out_type"},
  {"RaggedTensorToSparse", "sparse_indices=int64 sparse_values=@T sparse_dense_shape=int64"},
  {"RaggedTensorToTensor", "result=@T"},
  {"SparseConcat", "output_indices=int64 output_values=@T output_shape=int64"},
  {"SparseCross", "output_indices=int64 output_values=@out_type output_shape=int64"},
  {"SparseFillEmptyRows", "output_indices=int64 output_values=@T empty_row_indicator=bool "
                          "reverse_index_map=int64"},
  {"SparseReshape", "output_indices=int64 output_shape=int64"},
  {"SparseSlice", "output_indices=int64 output_values=@T output_shape=int64"},
  {"StringLength", "output=int32"},
  {"StringNGrams", "ngrams=string ngrams_splits=@Tsplits"},
  {"StringSplit", "indices=int64 values=string shape=int64"},
  {"StringSplitV2", "indices=int64 values=string shape=int64"},
  {"StringToHashBucket", "output=int64"},
  {"StringToHashBucketFast", "output=int64"},
  {"StringToHashBucketStrong", "output=int64"},
  {"StringToNumber", "output=@out_type"},
  {"UnicodeDecode", "row_splits=@Tsplits char_values=int32"},
  {"UnicodeDecodeWithOffsets", "row_splits=@Tsplits char_values=int32 "
                               "char_to_byte_starts=int64"},
  {"Unique", "y=@T idx=@out_idx"},
  {"UniqueWithCounts", "y=@T idx=@out_idx count=@out_idx"},
};
// clang-format on

/// Operators whose attributes tell another type than that of the result.
static pb::DataType getFixedType(StringRef op) {
  for (StringRef compares : {"Equal", "NotEqual", "Greater", "GreaterEqual",
                             "Less", "LessEqual", "IsFinite", "IsNan"})
    if (op == compares)
      return pb::DT_BOOL;
  if (op == "Rank")
    return pb::DT_INT32;
  if (op == "Where")
    return pb::DT_INT64;
  for (StringRef begin : {"As", "Encode", "Regex", "StaticRegex", "String",
                          "ReduceJoin", "UnicodeTranscode", "Substr"})
    if (op.starts_with(begin) && !op.starts_with("Assert") &&
        !op.starts_with("Assign"))
      return pb::DT_STRING;
  bool hasList = op.starts_with("TensorList") || op.starts_with("TensorArray");
  bool givesTensor = op.contains("GetItem") || op.contains("Stack") ||
                     op.contains("Gather") || op.contains("Concat") ||
                     op.contains("Read");
  if (hasList && op.contains("Length"))
    return pb::DT_INT32;
  return hasList && !givesTensor ? pb::DT_VARIANT : pb::DT_INVALID;
}

static const pb::AttrValue *findAttr(const pb::NodeDef &node, StringRef name) {
  auto found = node.attr().find(name.str());
  return found == node.attr().end() ? nullptr : &found->second;
}

/// Returns the type of the given name among those in the table above.
static pb::DataType parseType(StringRef name) {
  if (name == "string")
    return pb::DT_STRING;
  if (name == "int64")
    return pb::DT_INT64;
  if (name == "int32")
    return pb::DT_INT32;
  if (name == "uint8")
    return pb::DT_UINT8;
  if (name == "float32")
    return pb::DT_FLOAT;
  return name == "bool" ? pb::DT_BOOL : pb::DT_RESOURCE;
}

/// Adds the results that `text` describes, an entry of a row.
static void addResults(const pb::NodeDef &node, StringRef text,
                       std::vector<ResultInfo> &infos) {
  StringRef op = node.op();
  auto [name, type] = text.split('=');
  if (type.consume_front("@")) {
    const pb::AttrValue *value = findAttr(node, type);
    if (!value) {
      // TensorFlow leaves out attributes with their defaults.
      if (type == "out_idx")
        infos.push_back({name.str(), 0, pb::DT_INT32});
      else if (type == "dtype")
        infos.push_back({name.str(), 0, pb::DT_UINT8});
      else if (type == "Tsplits")
        infos.push_back({name.str(), 0, pb::DT_INT64});
      else if (type == "out_type" || type == "output_type")
        infos.push_back({name.str(), 0,
                         op == "StringToNumber" ? pb::DT_FLOAT : pb::DT_INT32});
      return;
    }
    if (!value->has_list()) {
      infos.push_back({name.str(), 0, value->type()});
      return;
    }
    for (auto [i, each] : llvm::enumerate(value->list().type()))
      infos.push_back({name.str(), int64_t(i), pb::DataType(each)});
    return;
  }
  auto [element, counted] = type.split('*');
  const pb::AttrValue *value =
      counted.empty() ? nullptr : findAttr(node, counted);
  int64_t count = counted.empty() ? 1 : value ? value->i() : 0;
  for (int64_t i = 0; i < std::min<int64_t>(count, 4096); ++i)
    infos.push_back({name.str(), i, parseType(element)});
}

/// Returns the results of an operator outside the table, by the attributes by
/// which TensorFlow's operators tell the types of their results.
static std::vector<ResultInfo> guessResults(const pb::NodeDef &node) {
  StringRef op = node.op();
  if (pb::DataType type = getFixedType(op))
    return {{"", 0, type}};
  for (StringRef name : {"Tout", "out_type", "output_type", "output_types",
                         "element_dtype", "DstT", "Tparams", "dtype", "T"}) {
    const pb::AttrValue *value = findAttr(node, name);
    if (!value)
      continue;
    if (!value->has_list())
      return {{"", 0, value->type()}};
    std::vector<ResultInfo> infos;
    for (auto [i, each] : llvm::enumerate(value->list().type()))
      infos.push_back({"", int64_t(i), pb::DataType(each)});
    return infos;
  }
  bool isShape = op == "Shape" || op == "ShapeN" || op == "Size";
  return {{"", 0, isShape ? pb::DT_INT32 : pb::DT_INVALID}};
}

/// Sets the shape of a decoded image: height, width and, if the node asks for
/// a number of them, channels.
static void setImageShape(const pb::NodeDef &node, ResultInfo &info) {
  const pb::AttrValue *expands = findAttr(node, "expand_animations");
  if (node.op() == "DecodeGif" ||
      (node.op() == "DecodeImage" && (!expands || expands->b())))
    return;
  const pb::AttrValue *channels = findAttr(node, "channels");
  info.shape.set_unknown_rank(false);
  for (int64_t size : {int64_t(-1), int64_t(-1),
                       channels && channels->i() > 0 ? channels->i() : -1})
    info.shape.add_dim()->set_size(size);
}

std::vector<ResultInfo>
nnc::tensorflow::getResultInfos(const pb::NodeDef &node) {
  std::vector<ResultInfo> infos;
  for (const ResultRow &row : kResults)
    if (row.op == node.op()) {
      SmallVector<StringRef> entries;
      row.results.split(entries, ' ', -1, /*KeepEmpty=*/false);
      for (StringRef entry : entries)
        addResults(node, entry, infos);
    }
  if (infos.empty())
    infos = guessResults(node);
  const pb::AttrValue *shapes = findAttr(node, "_output_shapes");
  for (auto [i, info] : llvm::enumerate(infos)) {
    info.shape.set_unknown_rank(true);
    if (shapes && int64_t(i) < shapes->list().shape_size())
      info.shape = shapes->list().shape(int(i));
    else if (StringRef(info.name) == "image")
      setImageShape(node, info);
  }
  return infos;
}

ResultInfo nnc::tensorflow::getResultInfo(const pb::NodeDef &node,
                                          const Reference &reference) {
  std::vector<ResultInfo> infos = getResultInfos(node);
  size_t first = 0;
  while (first < infos.size() && !reference.result.empty() &&
         !infos[first].name.empty() && infos[first].name != reference.result)
    ++first;
  if (first == infos.size())
    first = 0;
  size_t index = first + size_t(std::max<int64_t>(reference.index, 0));
  return index < infos.size() ? infos[index]
         : infos.empty()      ? ResultInfo()
         : infos.size() == 1  ? infos[0]
                              : ResultInfo();
}

bool nnc::tensorflow::isTextOperator(const pb::NodeDef &node) {
  StringRef op = node.op();
  if (op.contains("Table") && isNumberTable(node))
    return false;
  for (StringRef begin :
       {"AsString", "Decode", "Encode", "ExtractJpegShape", "HashTable",
        "LookupTable", "MutableHashTable", "Parse", "Ragged", "ReduceJoin",
        "Regex", "Sparse", "StaticRegex", "String", "Substr", "Unicode"})
    if (op.starts_with(begin))
      return true;
  return false;
}
