//===- Weights.cpp - The blobs of a .caffemodel ---------------------------===//
//
// Part of the nnc project, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//

#include "frontends/caffe/file/Weights.h"

#include "frontends/caffe/file/Recognize.h"
#include "frontends/caffe/file/Wire.h"
#include "frontends/common/Frontend.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"

#include <cstring>

using namespace llvm;
using namespace nnc::caffe;
namespace fs = llvm::sys::fs;

// The numbers of fields in Caffe's messages (caffe.proto).
namespace net_field {
enum { name = 1, oldLayer = 2, layer = 100 };
}
namespace layer_field {
enum { name = 1, blobs = 7 };
}
namespace v1_field {
enum { v0 = 1, name = 4, blobs = 6 };
}
namespace v0_field {
enum { name = 1, blobs = 50 };
}
namespace blob_field {
enum { num = 1, width = 4, data = 5, shape = 7, doubles = 8 };
}

float Blob::get(int64_t i) const {
  float value;
  std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof(float));
  return value;
}

const std::vector<Blob> *Weights::find(StringRef layer) const {
  auto found = layers.find(layer);
  return found == layers.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Blobs
//===----------------------------------------------------------------------===//

/// Reads the sizes of a BlobShape, which are packed or one field each.
static bool readShape(StringRef message, SmallVectorImpl<int64_t> &shape) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    if (field.number != 1)
      continue;
    if (field.encoding == WireField::varint)
      shape.push_back(static_cast<int64_t>(field.value));
    uint64_t size;
    for (StringRef rest = field.data; !rest.empty();) {
      if (!takeVarint(rest, size) || shape.size() > 32)
        return false;
      shape.push_back(static_cast<int64_t>(size));
    }
    if (shape.size() > 32) // Caffe's own limit
      return false;
  }
  return reader.isAtEnd();
}

/// Reads a BlobProto. Returns false if it is damaged.
static bool readBlob(StringRef message, Blob &blob) {
  WireReader reader(message);
  WireField field;
  SmallVector<int64_t> old;
  StringRef floats;
  bool hasShape = false;
  auto copy = [&](float value) {
    if (!blob.copied) {
      blob.copied = std::make_shared<std::vector<float>>();
      for (size_t i = 0; i < floats.size(); i += sizeof(float))
        blob.copied->push_back(support::endian::read<float, endianness::little>(
            floats.data() + i));
    }
    blob.copied->push_back(value);
  };
  while (reader.next(field)) {
    StringRef data = field.data;
    if (field.number >= blob_field::num && field.number <= blob_field::width &&
        field.encoding == WireField::varint) {
      old.resize(4, 0);
      old[field.number - blob_field::num] = static_cast<int32_t>(field.value);
    } else if (field.number == blob_field::shape) {
      hasShape = true;
      if (field.encoding != WireField::bytes || !readShape(data, blob.shape))
        return false;
    } else if (field.number == blob_field::data) {
      if (field.encoding == WireField::varint || data.size() % sizeof(float))
        return false;
      // The usual case is one field with all elements.
      if (floats.empty() && !blob.copied &&
          field.encoding == WireField::bytes) {
        floats = data;
        continue;
      }
      for (size_t i = 0; i < data.size(); i += sizeof(float))
        copy(support::endian::read<float, endianness::little>(data.data() + i));
    } else if (field.number == blob_field::doubles) {
      if (field.encoding == WireField::varint || data.size() % sizeof(double))
        return false;
      for (size_t i = 0; i < data.size(); i += sizeof(double))
        copy(static_cast<float>(
            support::endian::read<double, endianness::little>(data.data() +
                                                              i)));
    }
  }
  if (!reader.isAtEnd())
    return false;
  if (!hasShape)
    blob.shape = old;
  blob.bytes = !blob.copied
                   ? floats
                   : StringRef(reinterpret_cast<char *>(blob.copied->data()),
                               blob.copied->size() * sizeof(float));
  return true;
}

void nnc::caffe::takeBlobs(schema::NetParameter &net, Weights &weights) {
  auto take = [&](const std::string &name, auto *list) {
    std::vector<Blob> blobs;
    for (const schema::BlobProto &proto : *list) {
      Blob blob;
      if (proto.has_shape())
        blob.shape.assign(proto.shape().dim().begin(),
                          proto.shape().dim().end());
      else
        blob.shape = {proto.num(), proto.channels(), proto.height(),
                      proto.width()};
      blob.copied = std::make_shared<std::vector<float>>(proto.data().begin(),
                                                         proto.data().end());
      blob.copied->insert(blob.copied->end(), proto.double_data().begin(),
                          proto.double_data().end());
      blob.bytes = StringRef(reinterpret_cast<char *>(blob.copied->data()),
                             blob.copied->size() * sizeof(float));
      blobs.push_back(std::move(blob));
    }
    if (!blobs.empty())
      weights.layers[name] = std::move(blobs);
    list->Clear();
  };
  for (schema::LayerParameter &layer : *net.mutable_layer())
    take(layer.name(), layer.mutable_blobs());
  for (schema::V1LayerParameter &layer : *net.mutable_layers()) {
    take(layer.name(), layer.mutable_blobs());
    if (layer.has_layer())
      take(layer.layer().name(), layer.mutable_layer()->mutable_blobs());
  }
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of the fields of a layer's message that are read here.
struct LayerFields {
  uint32_t name, blobs;
  uint32_t inner = 0; ///< a message of the same kind, in V1: the V0 layer
};
} // namespace

static void appendVarint(std::string &text, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    text.push_back(static_cast<char>(value | 0x80));
  text.push_back(static_cast<char>(value));
}

/// Appends a field that holds `message`.
static void appendMessage(std::string &text, uint32_t number,
                          StringRef message) {
  appendVarint(text, uint64_t(number) << 3 | WireField::bytes);
  appendVarint(text, message.size());
  text += message;
}

/// Reads the name and the blobs of a layer. All other fields, which take few
/// bytes, are appended to `others`. Returns false if the layer is damaged.
static bool readLayer(StringRef message, const LayerFields &fields,
                      std::string &name, std::vector<Blob> &blobs,
                      std::string &others) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    bool isBytes = field.encoding == WireField::bytes;
    if (isBytes && field.number == fields.blobs) {
      blobs.emplace_back();
      if (!readBlob(field.data, blobs.back()))
        return false;
      continue;
    }
    if (isBytes && fields.inner && field.number == fields.inner) {
      std::string inner;
      if (!readLayer(field.data, {v0_field::name, v0_field::blobs}, name, blobs,
                     inner))
        return false;
      appendMessage(others, field.number, inner);
      continue;
    }
    if (isBytes && field.number == fields.name)
      name = field.data.str();
    others += field.whole;
  }
  return reader.isAtEnd();
}

/// Reads the layers of a NetParameter. Returns false if it is damaged.
static bool readNetwork(StringRef message, Weights &weights) {
  WireReader reader(message);
  WireField field;
  while (reader.next(field)) {
    bool isNew = field.number == net_field::layer;
    if (field.encoding != WireField::bytes ||
        (!isNew && field.number != net_field::oldLayer)) {
      weights.network += field.whole;
      continue;
    }
    std::string name, others;
    std::vector<Blob> blobs;
    LayerFields fields =
        isNew ? LayerFields{layer_field::name, layer_field::blobs}
              : LayerFields{v1_field::name, v1_field::blobs, v1_field::v0};
    if (!readLayer(field.data, fields, name, blobs, others))
      return false;
    appendMessage(weights.network, field.number, others);
    if (!blobs.empty())
      weights.layers[name] = std::move(blobs);
  }
  return reader.isAtEnd();
}

/// Returns what a file that holds no weights of Caffe looks like, or an empty
/// string. `bytes` are all of the file.
static std::string describeOther(const FileStart &start, StringRef bytes) {
  auto beginsWith = [&](StringRef text, size_t at = 0) {
    return bytes.substr(at).starts_with(text);
  };
  if (beginsWith("PK\x03\x04"))
    return "a zip archive, as PyTorch and Keras write it";
  if (beginsWith("\x89HDF\r\n"))
    return "an HDF5 file, as Caffe writes it with the snapshot format HDF5; "
           "save the weights as a .caffemodel";
  if (beginsWith("TFL3", 4))
    return "a TFLite model";
  if (beginsWith(StringRef("\x12\x01\0\0\0\0\0\0", 8)))
    return "a file of MXNet's parameters";
  if (beginsWith("\x80"))
    return "a Python pickle";
  if (beginsWith("{"))
    return "a JSON file";
  if (start.isText())
    return "text, as a network (.prototxt) is; give the .caffemodel";
  // The numbers and encodings of the first fields of other protobuf messages.
  uint64_t seen[2] = {};
  bool isVarint[16] = {}, isBytes[16] = {};
  WireReader reader(bytes);
  WireField field;
  for (unsigned i = 0; i < 64 && reader.next(field); ++i) {
    if (i < 2)
      seen[i] = field.number;
    if (field.number < 16)
      (field.encoding == WireField::varint ? isVarint : isBytes)[field.number] =
          true;
  }
  if (isVarint[1] && isVarint[2] && isVarint[3] && isVarint[4])
    return "an array (.binaryproto), such as the mean of images";
  if (isVarint[1] && isBytes[7])
    return "an ONNX model";
  if (isVarint[1] && (isBytes[2] || isBytes[3]))
    return "the state of a solver (.solverstate); give the .caffemodel of the "
           "same snapshot";
  if (seen[0] == 1 && seen[1] == 1)
    return "a TensorFlow graph";
  return "";
}

std::unique_ptr<Weights> nnc::caffe::loadWeights(StringRef path,
                                                 Problems &problems) {
  auto fail = [&](const Twine &why) {
    problems.report(ImportStatus::broken) << why.str();
    return nullptr;
  };
  std::string what = "has the file of weights '" + path.str() + "', which ";
  fs::file_status info;
  if (std::error_code error = fs::status(path, info))
    return fail(what + "cannot be read: " + error.message());
  // Opening a pipe or a device could wait forever.
  if (!fs::is_regular_file(info))
    return fail(what + "is not a file");
  auto start = readFileStart(path);
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!start || !file)
    return fail(what + "cannot be read");
  auto weights = std::make_unique<Weights>();
  weights->path = path.str();
  weights->file = std::move(*file);
  StringRef bytes = weights->file->getBuffer();
  if (bytes.empty())
    return fail(what + "is empty");
  bool isSound = readNetwork(bytes, *weights);
  // A network without weights is no mistake unless its layers need some.
  if (isSound && isCaffemodel(bytes))
    return weights;
  std::string other = describeOther(*start, bytes);
  if (!other.empty())
    return fail(what + "holds no weights of Caffe: it looks like " + other);
  if (!isSound)
    return fail(what + "is damaged or not complete; fetch it again");
  return fail(what + "is no .caffemodel");
}
