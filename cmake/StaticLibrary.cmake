# Target `lockc_static`: liblockc.a with all that lockc needs but the C++ runtime. Its objects and
# hiredis are joined into one object, in which hiredis' names are then made local: a program that
# links liblockc.a and a hiredis of its own gets each its own, whatever their versions.
if(HIREDIS_LIBRARY MATCHES "\\.a$")
  set(hiredis_archive ${HIREDIS_LIBRARY})
endif()

set(hiredis_names ${PROJECT_BINARY_DIR}/generated/hiredis.names)
file(WRITE ${hiredis_names} "")
if(hiredis_archive)
  execute_process(COMMAND ${CMAKE_NM} --extern-only --defined-only --format=posix ${hiredis_archive}
                  OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+ [A-Z] " lines "${listing}")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " .*" "\n" name "${line}")
    file(APPEND ${hiredis_names} ${name})
  endforeach()
endif()

set(object ${PROJECT_BINARY_DIR}/generated/lockc.o)
add_custom_command(
  OUTPUT ${object}
  COMMAND ${CMAKE_LINKER} -r -o ${object} $<TARGET_OBJECTS:lockc_core> $<TARGET_OBJECTS:lockc_capi>
          ${hiredis_archive}
  COMMAND ${CMAKE_OBJCOPY} --localize-symbols=${hiredis_names} ${object}
  DEPENDS $<TARGET_OBJECTS:lockc_core> $<TARGET_OBJECTS:lockc_capi> ${hiredis_archive}
  COMMENT "Joining lockc and hiredis"
  COMMAND_EXPAND_LISTS VERBATIM)

add_library(lockc_static STATIC ${object})
add_dependencies(lockc_static lockc_core lockc_capi)
set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
# Told as C that needs the C++ runtime, so that projects without C++ can link it, too.
set_target_properties(lockc_static PROPERTIES OUTPUT_NAME lockc LINKER_LANGUAGE C)
target_include_directories(lockc_static PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/capi/include>)
target_link_libraries(lockc_static PUBLIC stdc++ Threads::Threads)
if(NOT hiredis_archive)
  target_link_libraries(lockc_static PUBLIC ${HIREDIS_LIBRARY})
endif()
