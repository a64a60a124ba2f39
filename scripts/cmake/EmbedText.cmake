# The script behind nnc_embed_text(): writes each of FILES, paths from ROOT, as
# {"path", "its text"}, for an array in C++. Of files below STRIP the path starts
# there.
set(text "")
foreach(file ${FILES})
  file(READ ${ROOT}/${file} content)
  string(REGEX REPLACE "^${STRIP}/" "" name ${file})
  # Semicolons and brackets mean something to CMake's lists, not to strings.
  string(APPEND text "{\"${name}\", R\"nnc-text(${content})nnc-text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
