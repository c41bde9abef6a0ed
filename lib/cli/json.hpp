// SPDX-License-Identifier: BSD-3-Clause
// Answers as JSON. Each has "schema": "frond.NAME/VERSION"; schema/NAME.json describes it and a
// test validates. Fields are added, never taken away, within a version.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "control/management/fabric.hpp"

namespace frond::cli {

using Json = nlohmann::ordered_json;

Json info_json(const management::FabricInfo& info);
Json interface_json(const management::Interface& interface);
Json impairment_json(const management::Impairment& impairment);
Json status_json(const management::FabricInfo& info, const std::vector<management::Node>& nodes,
                 const std::vector<management::Link>& links);
Json trace_json(const management::TraceReport& report);
Json apply_json(const management::ApplyReport& report);
Json event_json(const management::Event& event);
Json error_json(const Error& error);

void print_json(const Json& json);  // to stdout, with a newline

}  // namespace frond::cli
