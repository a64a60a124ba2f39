// What the Arduino IDE puts around a sketch, for four clips.
#include "Arduino.h"
#include SKETCH

int main() {
  setup();
  for (int i = 0; i < 4; ++i)
    loop();
  return 0;
}
