# The script behind nnc_add_model(), run when `nnc compile` has written FOLDER: writes
# what the library's sources of fixed names include, and the compiler's flags. With
# PROCESSOR, flags that name the processor are the program's.
cmake_policy(VERSION 3.21)
file(READ ${FOLDER}/manifest.json manifest)
cmake_path(GET FOLDER FILENAME name)

# Returns a list of texts of the manifest.
function(read_list key variable)
  string(JSON count LENGTH "${manifest}" ${key})
  set(all "")
  math(EXPR last "${count} - 1")
  if(count GREATER 0)
    foreach(i RANGE ${last})
      string(JSON item GET "${manifest}" ${key} ${i})
      list(APPEND all "${item}")
    endforeach()
  endif()
  set(${variable} "${all}" PARENT_SCOPE)
endfunction()

# Writes a source that includes the files with an extension.
function(write_source extension files)
  list(FILTER files INCLUDE REGEX "\\${extension}$")
  set(text "/* What nnc wrote beside ${name}.cpp. */\n")
  foreach(file IN LISTS files)
    string(APPEND text "#include \"${name}/${file}\"\n")
  endforeach()
  if(extension STREQUAL ".c")
    string(APPEND text "typedef int nnc_${name}_sources; /* C has no empty source. */\n")
  endif()
  file(WRITE ${FOLDER}${extension} "${text}")
endfunction()

read_list(files files)
write_source(.c "${files}")
write_source(.S "${files}")

read_list(flags flags)
if(PROCESSOR)
  list(FILTER flags EXCLUDE REGEX "^-m")
endif()
list(JOIN flags "\n" text)
file(WRITE ${FOLDER}.flags "${text}\n")
# C and the assembler take those of the machine, which decide how calls pass floats.
list(FILTER flags INCLUDE REGEX "^-[mD]")
list(JOIN flags "\n" text)
file(WRITE ${FOLDER}.c.flags "${text}\n")
