// Pictures in memory: RGB with 8 bits for each channel, row by row.
#ifndef OCR_PICTURE_H
#define OCR_PICTURE_H

#include <cstdint>
#include <string>
#include <vector>

struct Point {
  float x = 0, y = 0;
};

/// A rectangle at any angle: the corner at which the text starts, and the two
/// sides as vectors, along the text and down from it.
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

/// Returns the part of the picture inside `rectangle`, resized to width x
/// height pixels by linear interpolation. Pixels outside of the picture are
/// those at its edge.
Picture cut(const Picture &, const Rectangle &rectangle, int width, int height);

/// Returns the whole picture resized to width x height pixels.
Picture resize(const Picture &, int width, int height);

/// Returns the picture upside down.
Picture turned(const Picture &);

/// Writes `(pixel / 255 - mean) / deviation` as planes of blue, green and red,
/// each `height` x `width`, with zeros behind the end of the picture's rows and
/// columns.
void writePlanes(const Picture &, const float (&mean)[3],
                 const float (&deviation)[3], int width, int height,
                 float *planes);

#endif
