# Writes each of FILES as {"path below ROOT", "text"}, for an array in C++.
set(text "")
foreach(file ${FILES})
  file(RELATIVE_PATH name ${ROOT} ${file})
  file(READ ${file} content)
  # Semicolons and brackets mean something to CMake's lists, not to strings.
  string(APPEND text "{\"${name}\", R\"nnc-text(${content})nnc-text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
