// What inspect tells of a key: is it as the C header promises?
#pragma once

#include <string>

#include "base/types.h"
#include "world.h"

namespace lockc::sim {

void check_inspection(World& world, const Key& key, const std::string& json);

}  // namespace lockc::sim
