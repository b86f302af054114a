#include <gtest/gtest.h>

#include "config/support.h"

namespace volley::config {
namespace {

struct Case {
    const char* text;
    const char* told;
};

void expect_told(const std::string& text, const std::string& told) {
    const std::string lines = problems_of(text);
    EXPECT_NE(lines.find(told), std::string::npos)
        << text << "\nshould tell: " << told << "\nbut tells: " << lines;
    EXPECT_EQ(lines.find('\n'), std::string::npos) << "more than one problem: " << lines;
}

std::string with_top(const std::string& members) {
    return R"({"version": 1, "ports": [{"name": "east", "device": "net_null0"}])" + members + "}";
}

TEST(Message, of_process_keys_says_what_would_be_right) {
    const Case cases[] = {
        {R"(, "name": "")", R"(/name: is the text ""; a name such as "east" is needed)"},
        {R"(, "name": ".hidden")", R"(".hidden" is kept for the program itself; choose another name)"},
        {R"(, "name": "a\tb")", R"("a\x09b" holds control characters)"},
        {R"(, "name": "0123456789012345678901234567890123456789012345678901234567890123x")",
         "the name is 65 bytes long; the most is 64"},
        {R"(, "eal": [])", "/eal: is an array; an object {…} is needed"},
        {R"(, "eal": null)", "/eal: is null; an object {…} is needed"},
        {R"(, "eal": {"huge_pages": true})", R"(is true; one of "auto", "yes" or "no" is needed)"},
        {R"(, "eal": {"huge_pages": "atuo"})",
         R"(is the text "atuo"; one of "auto", "yes" or "no" (did you mean "auto"?) is needed)"},
        {R"(, "eal": {"memory_mib": 15})", "is the number 15; an integer from 16 to 1048576 is needed"},
        {R"(, "eal": {"memory_mib": -1})", "is the number -1; an integer from 16 to 1048576 is needed"},
        {R"(, "eal": {"memory_mib": 64.5})", "is the number 64.5; an integer from 16 to 1048576 is needed"},
        {R"(, "eal": {"args": "-a"})", R"(is the text "-a"; an array of texts is needed)"},
        {R"(, "eal": {"args": [5]})", "/eal/args/0: is the number 5; an EAL argument is needed"},
        {R"(, "eal": {"plugins": [""]})",
         R"(/eal/plugins/0: is the text ""; a plugin's file name is needed)"},
        {R"(, "eal": {"lcores": ""})", R"(is the text ""; a text such as "0@0,1@0" is needed)"},
        {R"(, "lcores": {"control": 128})", "an integer from 0 to 127 is needed"},
        {R"(, "lcores": {"control": 1})", "/lcores/stats: lcore 1 is the control lcore already"},
        {R"(, "lcores": {"dispatch": 0})", "/lcores/dispatch: lcore 0 is the control lcore already"},
        {R"(, "lcores": {"dispatch": "inline"})",
         R"(is the text "inline"; an lcore number or "auto" is needed)"},
        {R"(, "run": {"start": "now"})", R"(one of "auto" or "manual")"},
        {R"(, "run": {"when_done": 1})", R"(is the number 1; one of "exit" or "idle" is needed)"},
        {R"(, "run": {"duration": "0s"})", R"("0s" is out of range; it goes from 1ns to)"},
        {R"(, "run": {"duration": "60"})", R"("60" has no unit; use ns, us, ms, s, m or h)"},
        {R"(, "run": {"duration": "6sec"})", R"(unknown unit "sec" in "6sec")"},
        {R"(, "run": {"multiplier": "2"})", R"(is the text "2"; a number such as 1.5 is needed)"},
        {R"(, "run": {"multiplier": 0})", "is the number 0; it goes from 1e-06 to 1000000.0"},
        {R"(, "run": {"multiplier": -1})", "is the number -1; a number such as 1.5 is needed"},
        {R"(, "telemetry": {"interval": "1ms"})", R"("1ms" is out of range; it goes from 10ms to 3600s)"},
        {R"(, "telemetry": {"file": 5})", "is the number 5; a path is needed"},
        {R"(, "telemetry": {"socket": ""})", R"(is the text ""; a path is needed)"},
        {R"(, "streams": {})", "/streams: is an object; an array of streams is needed"},
        {R"(, "$schema": 5)", "is the number 5; the address of a JSON schema is needed"},
        {R"(, "xyzzy": 1)", R"(unknown key "xyzzy" at the top level; known here: "$schema", "version",)"},
    };
    for (const Case& c : cases) expect_told(with_top(c.text), c.told);
}

TEST(Message, stays_on_one_line_whatever_the_key_holds) {
    expect_told(with_top(R"(, "ver\nsion\u001b[31m": 1)"), "f:1:68: /ver\\x0asion\\x1b[31m: unknown key");
}

TEST(Message, of_the_version_says_which_one_is_read) {
    expect_told(R"({"version": "1", "ports": [{"name": "a", "device": "net_null0"}]})",
                R"(is the text "1"; the number 1 is needed)");
    expect_told("[]", "is an array; an object {…} is needed");
}

TEST(Message, of_lcore_maps_points_into_the_text) {
    const Case cases[] = {
        {"0@0,,1", R"(the number of a lcore is missing in "0@0,,1")"},
        {"0@", R"(the number of a CPU is missing in "0@")"},
        {"128", "lcore numbers go from 0 to 127: 128"},
        {"0@1024", "CPU numbers go from 0 to 1023: 1024"},
        {"99999999999999999999", "lcore numbers go from 0 to 127: 99999999999999999999"},
        {"(0-3", "\")\" is missing in \"(0-3\""},
        {"0-3,2", R"(lcore 2 stands twice in "0-3,2")"},
        {"0;1", R"(unexpected ";" in "0;1")"},
        {"3-1", "the range 3-1 runs backwards"},
    };
    for (const Case& c : cases) {
        expect_told(with_top(R"(, "eal": {"lcores": ")" + std::string(c.text) + "\"}"), c.told);
    }
}

TEST(Message, of_port_keys_says_what_would_be_right) {
    const Case cases[] = {
        {R"(, "speed": 10)", R"(is the number 10; a text with a unit such as "10Gbps" is needed)"},
        {R"(, "speed": "10G")", R"("10G" is not a link speed such as "10Gbps" or "100Mbps")"},
        {R"(, "mtu": 67)", "an integer from 68 to 9710 is needed"},
        {R"(, "mac": "02:00:00:00:00")", R"(a MAC address such as "02:00:00:00:00:01" is needed)"},
        {R"(, "mac": "00:00:00:00:00:00")", "neither zero nor multicast"},
        {R"(, "promiscuous": "yes")", R"(is the text "yes"; true or false is needed)"},
        {R"(, "flow_control": "on")", R"(one of "none", "rx", "tx" or "full")"},
        {R"(, "rate": "10Gbit")", R"(unknown unit "Gbit" in "10Gbit"; use pps)"},
        {R"(, "rate": "-1pps")", "does not start with a number"},
        {R"(, "tx": 5)", "duplicate key"},
    };
    for (const Case& c : cases) expect_told(small_file(c.text, R"(, "rate": "1pps")"), c.told);
    const std::string tx = R"({"version": 1, "ports": [{"name": "a", "device": "net_null0", "tx": )";
    expect_told(tx + "5}]}", "/ports/0/tx: is the number 5; an object {…} is needed");
    expect_told(tx + "{}}]}", R"(/ports/0/tx: "lcores" is missing: the port's workers)");
    expect_told(tx + R"({"lcores": []}}]})", "is an array; an array of at least one integer is needed");
    expect_told(tx + R"({"lcores": [2], "flush_timeout": "2s"}}]})",
                R"("2s" is out of range; it goes from 0s to 1s)");
    expect_told(tx + R"({"lcores": [2], "flush_threshold": 0}}]})", "an integer from 1 to 256 is needed");
    expect_told(tx + R"({"lcores": [2], "max_frame": 9729}}]})", "an integer from 64 to 9728 is needed");
    expect_told(R"({"version": 1, "ports": {}})", "is an object; an array of at least one port is needed");
    for (const char* device : {"", "../x", "0000:03:00", "0000:03:00.0.1", "3com", "net null"}) {
        const std::string text =
            R"({"version": 1, "ports": [{"name": "a", "device": ")" + std::string(device) + "\"}]}";
        EXPECT_NE(problems_of(text).find("PCI address"), std::string::npos) << device;
    }
}

TEST(Message, of_stream_keys_says_what_would_be_right) {
    const Case cases[] = {
        {R"(, "rate": {"pps": 5})", R"(unknown key "pps" in streams[].rate; known here: "steps" and "ramp")"},
        {R"(, "rate": {})", R"(a rate that changes holds "steps" or "ramp")"},
        {R"(, "rate": {"ramp": {"from": "1pps", "to": "2pps", "for": 1}})",
         "is the number 1; a text with a unit"},
        {R"(, "rate": "1pps", "bursts": {"packets": 0, "gap": "1s"})",
         "an integer from 1 to 4294967295 is needed"},
        {R"(, "rate": "1pps", "departure": {"jitter": "0s"})", "\"0s\" is out of range"},
        {R"(, "rate": "1pps", "weight": 0)", "an integer from 1 to 1000000 is needed"},
        {R"(, "rate": "1pps", "burst": "big")", R"("auto" or an integer from 1 to 256 is needed)"},
        {R"(, "rate": "1pps", "burst": 0)", "an integer from 1 to 256 is needed"},
        {R"(, "rate": "1pps", "count": "5")", R"(is the text "5"; an integer of at least 1 is needed)"},
        {R"(, "rate": "1pps", "duration": "0s")", R"("0s" is out of range; it goes from 1ns)"},
        {R"(, "rate": "1pps", "start": {"delay": 5})",
         R"(a text with a unit such as "10ms" or "60s" is needed)"},
        {R"(, "rate": "1pps", "start": "now")", "an object {…} is needed"},
        {R"(, "rate": "1pps", "workers": [])", "an array of at least one integer is needed"},
        {R"(, "rate": "1pps", "workers": [2])",
         R"(port "east" has 2 queues (its tx.lcores), so indices go from 0 to 1)"},
        {R"(, "rate": "1pps", "enabled": 1)", "true or false is needed"},
        {R"(, "rate": "1pps", "delay": "1s")",
         R"(unknown key "delay" in streams[]; it belongs in streams[].start)"},
    };
    for (const Case& c : cases) expect_told(small_file("", c.text), c.told);
    expect_told(R"({"version": 1, "ports": [{"name": "a", "device": "net_null0"}], "streams": [5]})",
                "/streams/0: is the number 5; an object {…} is needed");
    expect_told(R"({"version": 1, "ports": [{"name": "a", "device": "net_null0", "tx": {"lcores": [2]}}],
                    "streams": [{"name": "s", "port": "zzzz", "rate": "1pps", "packet": {"headers": [{"eth": {}}, {"raw": {"hex": "00"}}]}}]})",
                R"(there is no port "zzzz"; the ports are "a")");
}

TEST(Message, of_packet_keys_says_what_would_be_right) {
    const Case cases[] = {
        {R"("frame_size": "64")", "is the text \"64\"; a number such as 5 or \"0x1f\" is needed"},
        {R"("frame_size": 9729)", "9729 is out of range: frame_size goes from 5 to 9728"},
        {R"("frame_size": {})",
         "a value as an object needs one of increment, decrement, list, random or variable"},
        {R"("frame_size": {"weighted": []})",
         R"(an array of at least one {"size": …, "weight": …} is needed)"},
        {R"("frame_size": {"weighted": [{"weight": 1}]})", R"("size" is missing: frame size)"},
        {R"("frame_size": {"weighted": [{"size": 64}], "imix": "simple"})", R"(holds "imix" and "weighted")"},
        {R"("payload": {})", "a payload takes exactly one of"},
        {R"("payload": {"fill": 255})",
         R"(is the number 255; bytes as hexadecimal text such as "0xff00" is needed)"},
        {R"("payload": {"fill": "0xzz"})", R"("z" in "0xzz" is no hexadecimal digit)"},
        {R"("payload": {"fill": "0x"})", R"("0x" holds no byte)"},
        {R"("payload": {"text": ""})", R"(is the text ""; a text is needed)"},
        {R"("payload": {"random": 5})", "an object {…} is needed"},
        {R"("flows": 0)", "an integer of at least 1 is needed"},
        {R"("variables": [])", "an object of names and values is needed"},
        {R"("variables": {"": 5})", R"(a name such as "east" is needed)"},
        {R"("variables": {"a": true})", R"(is true; a number such as 5 or "0x1f", or an address, is needed)"},
        {R"("headers": {})", R"(an array such as [{"eth": {}}, {"ipv4": {}}] is needed)"},
        {R"("headers": ["eth"])", R"(is the text "eth"; a header such as {"eth": {}} is needed)"},
        {R"("headers": [{}])", "holds 0 headers; each stands in braces of its own"},
        {R"("headers": [{"eth": null}])", "is null; an object of fields, or {} for the defaults, is needed"},
        {R"("headers": [{"qqqqqq": {}}])", R"(unknown header "qqqqqq"; the headers are eth vlan)"},
        {R"("headers": [{"vlan": {"qqqqqq": 1}}])", R"(vlan has no field "qqqqqq"; its fields are)"},
        {R"("headers": [{"ipv4": {"options": 5}}])", "bytes as hexadecimal text"},
        {R"("headers": [{"raw": {}}])", "raw takes exactly one of"},
        {R"("headers": [{"raw": {"hex": "00", "length": 5}}])", R"("length" goes with "fill" only)"},
        {R"("headers": [{"raw": {"fill": "00", "length": 9725}}])", "an integer from 1 to 9724 is needed"},
    };
    for (const Case& c : cases) expect_told(small_file("", R"(, "rate": "1pps")", c.text), c.told);
    const std::string long_hex(2 * 9725, 'a');
    expect_told(
        small_file("", R"(, "rate": "1pps")", R"("headers": [{"raw": {"hex": ")" + long_hex + "\"}}]"),
        "is 9725 bytes long; the most is 9724");
}

TEST(Message, of_values_and_programs_says_what_would_be_right) {
    const Case cases[] = {
        {R"("ttl": true)", R"(is true; a number such as 5 or "0x1f" is needed)"},
        {R"("ttl": -1)", R"(is the number -1; a number such as 5 or "0x1f" is needed)"},
        {R"("ttl": "5")", R"(is the text "5"; a number such as 5 or "0x1f" is needed)"},
        {R"("ttl": "0xg")", R"("0xg" is not a hexadecimal number)"},
        {R"("ttl": "0x")", R"("0x" is not a hexadecimal number)"},
        {R"("ttl": "0x100")", "256 is out of range: ipv4.ttl goes from 0 to 255"},
        {R"("ttl": "0x100000000000000000000000000000000")", "has more than 128 bits"},
        {R"("src": "0x100000000")",
         "0x100000000 is out of range: ipv4.src goes from 0.0.0.0 to 255.255.255.255"},
        {R"("ttl": {"increment": {"from": 1}})", R"("to" is missing: the last value)"},
        {R"("ttl": {"increment": {"from": 1, "to": 256}})", "/increment/to: 256 is out of range"},
        {R"("ttl": {"increment": {"from": 1, "to": 2, "step": 0}})",
         "a step of 0 never moves; the least is 1"},
        {R"("ttl": {"increment": {"from": 1, "to": 2, "every": 0}})", "an integer of at least 1 is needed"},
        {R"("ttl": {"increment": {"from": 1, "to": 2}, "every": 2})",
         R"("every" stands beside "list" only; write it inside "increment")"},
        {R"("ttl": {"random": {"from": 1, "to": 4, "distinct": 5}})",
         R"("distinct" asks for 5 values of 4 that there are)"},
        {R"("ttl": {"random": {"from": 4, "to": 1}})", R"("from" is larger than "to")"},
        {R"("ttl": {"list": [1, 2, 300]})", "/list/2: 300 is out of range"},
        {R"("ttl": {"list": [1], "shift": 128})", "an integer from -127 to 127 is needed"},
        {R"("ttl": {"list": [1], "mask": 256})", "the mask 256 has bits outside ipv4.ttl"},
        {R"("ttl": {"list": [200], "add": 100})", "200 with add and shift makes 300, which is out of range"},
        {R"("ttl": {"list": [200], "shift": 1})", "200 with add and shift makes 400, which is out of range"},
        {R"("ttl": {"variable": 5})", "the name of an entry of packet.variables is needed"},
        {R"("ttl": {"mask": 5})", "a value as an object needs one of"},
    };
    for (const Case& c : cases) {
        expect_told(small_file("", R"(, "rate": "1pps")",
                               R"("frame_size": 128, "headers": [{"eth": {}}, {"ipv4": {)" +
                                   std::string(c.text) + "}}]"),
                    c.told);
    }
}

}  // namespace
}  // namespace volley::config
