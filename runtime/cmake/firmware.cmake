# One executable of the files, flags and definitions that compiler/device/firmware.py writes.
include(${KILN_FIRMWARE_CONFIG})

add_executable(firmware ${KILN_SOURCES} ${KILN_MODEL_SOURCES})
set_target_properties(firmware PROPERTIES OUTPUT_NAME ${KILN_OUTPUT_NAME})
target_include_directories(firmware PRIVATE ${KILN_INCLUDES})
target_compile_definitions(firmware PRIVATE ${KILN_DEFINES})
target_compile_options(firmware PRIVATE ${KILN_COMPILE_FLAGS})

foreach(source IN LISTS KILN_SOURCES)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -Os)
  if(source MATCHES "\\.S$")
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${KILN_DEPENDS}")
  endif()
endforeach()
foreach(source IN LISTS KILN_MODEL_SOURCES)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${KILN_MODEL_OPTIMIZE}")
endforeach()

# Libraries go last: they satisfy what the objects left open.
target_link_options(firmware PRIVATE ${KILN_LINK_FLAGS})
target_link_libraries(firmware PRIVATE ${KILN_LIBRARIES})
