# SPDX-License-Identifier: Apache-2.0

# As a script, -DOUT=file.cc -DFILES=a;b: writes a source with the text of the files, which src/page/assets.h
# declares. Included, it gives a target such a source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(source "// Made by cmake/SegcalEmbed.cmake.\n#include \"page/assets.h\"\n\nnamespace segcal {\nnamespace {\n\n")
  string(APPEND source "constexpr Asset kAssets[] = {\n")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    file(READ ${file} text)
    string(APPEND source "    {\"${name}\", R\"embedded(${text})embedded\"},\n")
  endforeach()
  string(APPEND source "};\n\n}  // namespace\n\nstd::string_view FindAsset(std::string_view name) noexcept {\n"
                       "  for (const Asset& asset : kAssets) {\n    if (name == asset.name) return asset.text;\n  }\n"
                       "  return {};\n}\n\n}  // namespace segcal\n")
  file(WRITE ${OUT} "${source}")
  return()
endif()

function(segcal_embed target folder)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.js ${PROJECT_SOURCE_DIR}/${folder}/*.css)
  set(out ${PROJECT_BINARY_DIR}/embedded/${target}_assets.cc)
  set(script ${PROJECT_SOURCE_DIR}/cmake/SegcalEmbed.cmake)
  add_custom_command(OUTPUT ${out} DEPENDS ${files} ${script} VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOUT=${out} "-DFILES=${files}" -P ${script}
                     COMMENT "Embedding ${folder}")
  target_sources(${target} PRIVATE ${out})
endfunction()
