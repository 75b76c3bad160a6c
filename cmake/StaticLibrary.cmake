# Target `lockc_static`: liblockc.a with all that lockc needs but the C++ runtime. Its objects and
# hiredis are joined into one object, in which every name but those of the C ABI is then made local:
# the core's classes can't be mistaken for those of lockc.hpp, and a program that links a hiredis of
# its own as well gets each its own, whatever their versions. Groups are dissolved before that, or
# the linker would take an inline function of the core and its namesake outside for one.
if(HIREDIS_LIBRARY MATCHES "\\.a$")
  set(hiredis_archive ${HIREDIS_LIBRARY})
endif()

set(object ${PROJECT_BINARY_DIR}/generated/lockc.o)
add_custom_command(
  OUTPUT ${object}
  COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${object}
          $<TARGET_OBJECTS:lockc_core> $<TARGET_OBJECTS:lockc_capi> ${hiredis_archive}
  COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=lockc_* ${object}
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
