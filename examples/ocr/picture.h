// Pictures in memory: 8 bits a channel, RGB, row by row.
#ifndef OCR_PICTURE_H
#define OCR_PICTURE_H

#include <cstdint>
#include <string>
#include <vector>

struct Point {
  float x = 0, y = 0;
};

/// A rectangle that may be turned: its corner at the start of the text, and its
/// two sides as vectors (along the text, and down).
struct Rectangle {
  Point corner, along, down;
  float width() const;
  float height() const;
};

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> rgb;

  Picture() = default;
  Picture(int width, int height)
      : width(width), height(height), rgb(std::size_t(width) * height * 3) {}
  const std::uint8_t *pixel(int x, int y) const {
    return &rgb[(std::size_t(y) * width + x) * 3];
  }
  std::uint8_t *pixel(int x, int y) {
    return &rgb[(std::size_t(y) * width + x) * 3];
  }
};

/// Reads PNG, JPEG, BMP or PPM. Throws std::runtime_error.
Picture loadPicture(const std::string &path);

/// What `rectangle` of the picture shows, at a size of width x height pixels
/// (linear interpolation; the picture's edge goes on outside of it).
Picture cut(const Picture &, const Rectangle &rectangle, int width, int height);

/// The whole picture at another size.
Picture resize(const Picture &, int width, int height);

/// Upside down.
Picture turned(const Picture &);

/// Writes `(pixel / 255 - mean) / deviation` as planes of blue, green and red,
/// each `height` x `width`, zero where the picture does not reach.
void writePlanes(const Picture &, const float (&mean)[3],
                 const float (&deviation)[3], int width, int height,
                 float *planes);

#endif
