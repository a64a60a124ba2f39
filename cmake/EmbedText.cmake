# Writes each of FILES, paths from ROOT, as {"path", "its text"}, for an array in
# C++. Of files below STRIP the path starts there.
set(text "")
foreach(file ${FILES})
  file(READ ${ROOT}/${file} content)
  string(REPLACE "${STRIP}/" "" name ${file})
  string(APPEND text "{\"${name}\", R\"nnc-text(${content})nnc-text\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${text}")
