#include "config/reference.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "config/key.h"
#include "config/load.h"
#include "packet/fields.h"

namespace volley::config {
namespace {

const std::string page_path = std::string(VOLLEY_SOURCE_ROOT) + "/docs/configuration.md";

std::string read(const std::string& path) {
    std::ifstream file(path);
    EXPECT_TRUE(file) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// The page between "<!-- name -->" and "<!-- /name -->", both on lines of their own.
void compare_part(std::string& page, const std::string& name, const std::string& wanted) {
    const std::string begin = "<!-- " + name + " -->\n";
    const std::string end = "<!-- /" + name + " -->";
    const std::size_t from = page.find(begin);
    const std::size_t to = page.find(end);
    ASSERT_TRUE(from != std::string::npos && to != std::string::npos && from < to) << name;
    const std::size_t start = from + begin.size();
    if (std::getenv("VOLLEY_REWRITE_DOCS") != nullptr) {
        page.replace(start, to - start, wanted);
    } else {
        EXPECT_EQ(page.substr(start, to - start), wanted)
            << "VOLLEY_REWRITE_DOCS=1 build/tests/test_config --gtest_filter='Reference.*' rewrites the "
               "tables";
    }
}

TEST(Reference, page_has_the_tables_of_the_decoder_itself) {
    std::string page = read(page_path);
    compare_part(page, "keys", keys_reference());
    compare_part(page, "fields", fields_reference());
    compare_part(page, "later", later_reference());
    if (std::getenv("VOLLEY_REWRITE_DOCS") != nullptr) std::ofstream(page_path) << page;
}

TEST(Reference, examples_of_the_page_are_accepted) {
    const std::string page = read(page_path);
    int examples = 0;
    for (std::size_t at = page.find("```json\n"); at != std::string::npos; at = page.find("```json\n", at)) {
        at += 8;
        const std::string text = page.substr(at, page.find("```", at) - at);
        if (text.find("\"version\"") == std::string::npos) continue;
        ++examples;
        EXPECT_NO_THROW(parse(text, "docs/configuration.md")) << text;
    }
    EXPECT_GE(examples, 2);
}

const nlohmann::json* at_object(const nlohmann::json& dump, const std::string& object) {
    std::string pointer;
    for (const char c : object.empty() ? std::string() : "/" + object) {
        if (c == '.') {
            pointer += '/';
        } else if (c == ']') {
            pointer += '0';
        } else {
            pointer += c == '[' ? '/' : c;
        }
    }
    const nlohmann::json::json_pointer place(pointer);
    return dump.contains(place) ? &dump.at(place) : nullptr;
}

TEST(Reference, defaults_are_those_that_the_model_has) {
    const Model model =
        parse(R"({"version": 1, "ports": [{"name": "a", "device": "net_null0", "tx": {"lcores": [2]}}],
        "streams": [{"name": "s", "port": "a", "rate": "1pps", "packet": {"frame_size": {"weighted": [{"size": 64}]},
          "payload": {"random": {}}, "headers": [{"eth": {}}]}}]})",
              "test");
    const auto dump = nlohmann::json::parse(dump_config(model));
    int compared = 0;
    for (const KeyInfo& info : all_keys()) {
        const nlohmann::json* object = at_object(dump, std::string(info.object));
        if (object == nullptr || info.key.standard.empty() || info.key.standard == "required") continue;
        const auto standard = nlohmann::json::parse(info.key.standard, nullptr, false);
        if (standard.is_object() || !object->contains(info.key.name) || (*object)[info.key.name].is_object())
            continue;
        if (info.key.name == "tx" || info.key.name == "rate" || info.key.name == "headers" ||
            info.key.name == "streams")
            continue;
        ++compared;
        EXPECT_TRUE((*object)[info.key.name] == standard)
            << info.object << "." << info.key.name << " is " << (*object)[info.key.name] << " by default";
    }
    EXPECT_GE(compared, 30);
}

// Properties of the schema's definition of an object of KeyInfo.
const nlohmann::json& properties_of(const nlohmann::json& schema, const std::string& object) {
    static const std::map<std::string, std::string> definitions{
        {"eal", "eal"},
        {"lcores", "lcores"},
        {"run", "run"},
        {"telemetry", "telemetry"},
        {"service", "service"},
        {"service.tls", "service.tls"},
        {"ports[]", "port"},
        {"ports[].tx", "tx"},
        {"ports[].rx", "rx"},
        {"streams[]", "stream"},
        {"streams[].start", "start"},
        {"streams[].rate", "changing_rate"},
        {"streams[].rate.steps[]", "rate_step"},
        {"streams[].rate.ramp", "rate_ramp"},
        {"streams[].bursts", "bursts"},
        {"streams[].departure", "departure"},
        {"streams[].expect", "expect"},
        {"streams[].packet", "packet"},
        {"streams[].packet.pcap", "pcap"},
        {"streams[].packet.frame_size", "frame_size"},
        {"streams[].packet.frame_size.weighted[]", "weighted_size"},
        {"evidence", "evidence"},
        {"streams[].packet.payload", "payload"},
        {"streams[].packet.payload.random", "payload_random"},
        {"raw", "raw"},
        {"value", "program"},
        {"value.increment", "increment"},
        {"value.decrement", "decrement"},
        {"value.random", "random"},
    };
    if (object.empty()) return schema.at("properties");
    return schema.at("definitions").at(definitions.at(object)).at("properties");
}

TEST(Schema, has_the_keys_defaults_and_descriptions_of_the_decoder_and_no_others) {
    const auto schema =
        nlohmann::json::parse(read(std::string(VOLLEY_SOURCE_ROOT) + "/conf/volley.schema.json"));
    std::map<std::string, std::set<std::string>> known;
    for (const KeyInfo& info : all_keys()) {
        const std::string object(info.object);
        const std::string name(info.key.name);
        known[object].insert(name);
        const auto& properties = properties_of(schema, object);
        ASSERT_TRUE(properties.contains(name)) << object << '.' << name;
        EXPECT_EQ(properties[name].at("description"), info.key.description) << object << '.' << name;
        if (properties[name].contains("default")) {
            EXPECT_EQ(properties[name]["default"], nlohmann::json::parse(info.key.standard))
                << object << '.' << name;
        }
    }
    for (const LaterKey& key : later_keys()) {
        const std::string object(key.object);
        known[object].insert(std::string(key.name));
        const auto& properties = properties_of(schema, object);
        ASSERT_TRUE(properties.contains(key.name)) << object << '.' << key.name;
        const auto& property = properties[std::string(key.name)];
        if (key.standard.empty()) {
            EXPECT_EQ(property, false) << object << '.' << key.name;
        } else {
            EXPECT_EQ(property.at("const"), nlohmann::json::parse(key.standard)) << object << '.' << key.name;
        }
    }
    for (const auto& [object, names] : known) {
        for (const auto& [name, ignored] : properties_of(schema, object).items()) {
            EXPECT_TRUE(names.contains(name)) << object << '.' << name << " is in the schema alone";
        }
    }
}

TEST(Schema, has_the_headers_and_fields_of_the_packet_table_and_no_others) {
    const auto schema =
        nlohmann::json::parse(read(std::string(VOLLEY_SOURCE_ROOT) + "/conf/volley.schema.json"));
    const auto& headers = schema.at("definitions").at("header").at("properties");
    std::size_t fields = 0;
    for (const packet::FieldInfo& field : packet::all_fields()) {
        const std::string header(packet::name_of(field.header));
        EXPECT_TRUE(headers.contains(header) && headers[header]["properties"].contains(field.name))
            << header << '.' << field.name;
    }
    for (const auto& [name, header] : headers.items()) {
        EXPECT_NE(packet::find_header(name), nullptr) << name;
        if (name != "raw") fields += header.at("properties").size();
    }
    EXPECT_EQ(fields, packet::all_fields().size());
    EXPECT_EQ(headers.size(), packet::header_names().size());
}

}  // namespace
}  // namespace volley::config
