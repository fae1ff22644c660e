# feedline for CMake: find_package(feedline) makes the targets feedline::feedline (shared) and feedline::static.
# capi/install.sh puts this file into PREFIX/lib/cmake/feedline.

get_filename_component(_feedline_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET feedline::feedline)
    add_library(feedline::feedline SHARED IMPORTED)
    set_target_properties(feedline::feedline PROPERTIES
        IMPORTED_LOCATION "${_feedline_prefix}/lib/libfeedline.so"
        IMPORTED_SONAME "libfeedline.so.0"
        INTERFACE_INCLUDE_DIRECTORIES "${_feedline_prefix}/include")
endif()

if(NOT TARGET feedline::static)
    find_package(Threads REQUIRED)
    add_library(feedline::static STATIC IMPORTED)
    set_target_properties(feedline::static PROPERTIES
        IMPORTED_LOCATION "${_feedline_prefix}/lib/libfeedline.a"
        INTERFACE_INCLUDE_DIRECTORIES "${_feedline_prefix}/include"
        INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()

foreach(_feedline_file IN ITEMS lib/libfeedline.so lib/libfeedline.a include/feedline.h)
    if(NOT EXISTS "${_feedline_prefix}/${_feedline_file}")
        set(feedline_FOUND FALSE)
        set(feedline_NOT_FOUND_MESSAGE "${_feedline_prefix}/${_feedline_file} is missing: run capi/install.sh again")
    endif()
endforeach()
unset(_feedline_prefix)
unset(_feedline_file)
