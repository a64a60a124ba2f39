// The main function that the Arduino IDE adds to a sketch, which here stops
// after four clips.
#include "Arduino.h"
#include SKETCH

int main() {
  setup();
  for (int i = 0; i < 4; ++i)
    loop();
  return 0;
}
