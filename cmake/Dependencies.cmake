# What the core stands on, found where Debian puts it.
find_package(Threads REQUIRED)

# Header only; for the command and the tests. The core does without: its destructors take memory.
find_package(nlohmann_json 3.9 QUIET)
if(NOT nlohmann_json_FOUND)
  message(FATAL_ERROR "nlohmann's JSON was not found; on Debian: apt-get install nlohmann-json3-dev")
endif()

# Target `hiredis`: the RESP formatter and reader, known to one file of the core. The static library
# is preferred: its symbols then stay inside lockc, and a program may use any other hiredis beside it.
find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
find_library(HIREDIS_LIBRARY NAMES libhiredis.a hiredis)
if(NOT HIREDIS_INCLUDE_DIR OR NOT HIREDIS_LIBRARY)
  message(FATAL_ERROR "hiredis was not found; on Debian: apt-get install libhiredis-dev")
endif()
add_library(hiredis UNKNOWN IMPORTED)
set_target_properties(hiredis PROPERTIES
  IMPORTED_LOCATION ${HIREDIS_LIBRARY}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${HIREDIS_INCLUDE_DIR})
