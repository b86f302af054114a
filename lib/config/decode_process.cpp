#include <array>

#include "config/lcores.h"
#include "config/print.h"
#include "config/tables.h"

namespace volley::config {
namespace {

constexpr Duration one_hour{3'600'000'000'000};
constexpr Duration one_year{31'536'000'000'000'000};
constexpr std::array<std::string_view, 3> huge_page_choices{"auto", "yes", "no"};
constexpr std::array<std::string_view, 2> start_choices{"auto", "manual"};
constexpr std::array<std::string_view, 2> when_done_choices{"exit", "idle"};

void decode_version(Decoder& decoder, const At& at, Model& /*out*/) {
    const auto* version = at.node.number();
    if (version == nullptr) {
        decoder.mismatch(at, "the number 1");
    } else if (*version != 1) {
        decoder.wrong(at, "this program reads version 1, not " + std::to_string(*version));
    }
}

void decode_eal_lcores(Decoder& decoder, const At& at, Eal& out) {
    std::optional<std::string> map;
    decoder.text(at, "a text such as \"0@0,1@0\"", map);
    std::string why;
    if (map && !parse_lcores(*map, why)) {
        decoder.wrong(at, why);
    } else if (map) {
        out.lcores = *map;
    }
}

void decode_plugins(Decoder& decoder, const At& at, Eal& out) {
    decoder.texts(at, "a plugin's file name", out.plugins);
    for (std::size_t i = 0; i < out.plugins.size();
         ++i) {  // a bare name is searched for by the dynamic loader
        if (out.plugins[i].find('/') != std::string::npos) {
            decoder.path({(*at.node.array())[i], child_pointer(at.pointer, i)}, out.plugins[i]);
        }
    }
}

void decode_dispatch(Decoder& decoder, const At& at, Lcores& out) {
    const auto* text = at.node.text();
    if (text != nullptr && *text == "auto") return;
    if (at.node.number() == nullptr) {
        decoder.mismatch(at, "an lcore number or \"auto\"");
    } else {
        decoder.integer(at, 0, most_lcores - 1, out.dispatch);
    }
}

void decode_socket(Decoder& decoder, const At& at, Telemetry& out) {
    if (at.node.is_null()) {
        out.socket.reset();
    } else if (const auto* text = at.node.text(); text != nullptr && *text == "auto") {
        out.socket = "auto";
    } else {
        std::string path;
        decoder.path(at, path);
        if (!path.empty()) out.socket = path;
    }
}

const std::array<Row<Eal>, 5> eal_rows{{
    {{"lcores", "lcore map", "null", "", Effect::restart,
      "EAL map of lcores to CPUs such as \"0@0,1@0,2-3\"; null: each lcore in use runs on the CPU of its "
      "number"},
     decode_eal_lcores,
     [](const Eal& e) { return e.lcores.empty() ? Node{} : to_node(e.lcores); }},
    {{"huge_pages", "\"auto\", \"yes\" or \"no\"", "\"auto\"", "", Effect::restart,
      "whether packet memory lies in huge pages; auto: where the host has them"},
     [](Decoder& d, const At& at, Eal& e) { d.choice(at, huge_page_choices, e.huge_pages); },
     [](const Eal& e) { return to_node(e.huge_pages); }},
    {{"memory_mib", "integer 16..1048576", "512", "MiB", Effect::restart, "packet memory to reserve"},
     [](Decoder& d, const At& at, Eal& e) { d.integer(at, 16, 1'048'576, e.memory_mib); },
     [](const Eal& e) { return to_node(e.memory_mib); }},
    {{"plugins", "array of texts", "[]", "", Effect::restart,
      "shared objects with further drivers, loaded before the ports; a name with a slash is a path"},
     decode_plugins,
     [](const Eal& e) { return to_node(e.plugins); }},
    {{"args", "array of texts", "[]", "", Effect::restart, "further EAL arguments, passed as they are"},
     [](Decoder& d, const At& at, Eal& e) { d.texts(at, "an EAL argument", e.args); },
     [](const Eal& e) { return to_node(e.args); }},
}};

const std::array<Row<Lcores>, 3> lcores_rows{{
    {{"control", "lcore", "0", "", Effect::restart,
      "lcore of the main thread: configuration, signals, life cycle"},
     [](Decoder& d, const At& at, Lcores& l) { d.integer(at, 0, most_lcores - 1, l.control); },
     [](const Lcores& l) { return to_node(l.control); }},
    {{"stats", "lcore", "1", "", Effect::restart, "lcore that reads the counters and writes telemetry"},
     [](Decoder& d, const At& at, Lcores& l) { d.integer(at, 0, most_lcores - 1, l.stats); },
     [](const Lcores& l) { return to_node(l.stats); }},
    {{"dispatch", "lcore or \"auto\"", "\"auto\"", "", Effect::restart,
      "lcore that schedules for all workers; auto: each worker schedules for itself"},
     decode_dispatch,
     [](const Lcores& l) { return l.dispatch ? to_node(*l.dispatch) : to_node(std::string("auto")); }},
}};

const std::array<Row<Run>, 6> run_rows{{
    {{"start", "\"auto\" or \"manual\"", "\"auto\"", "", Effect::next_run,
      "auto: traffic starts when the ports are up; manual: ports and links come up and wait for the start "
      "command of the control interface"},
     [](Decoder& d, const At& at, Run& r) {
         std::string choice = "auto";
         d.choice(at, start_choices, choice);
         r.start = choice == "auto" ? Start::automatic : Start::manual;
     },
     [](const Run& r) { return to_node(std::string(start_choices[r.start == Start::automatic ? 0 : 1])); }},
    {{"duration", "duration", "null", "", Effect::next_run,
      "length of a run; null: until every stream has sent its count, or for ever"},
     [](Decoder& d, const At& at, Run& r) { d.duration(at, Duration{1}, one_year, r.duration); },
     [](const Run& r) { return to_node(r.duration); }},
    {{"when_done", "\"exit\" or \"idle\"", "\"exit\"", "", Effect::next_run,
      "what follows the report of a run that is over; idle keeps ports and links up"},
     [](Decoder& d, const At& at, Run& r) {
         std::string choice = "exit";
         d.choice(at, when_done_choices, choice);
         r.when_done = choice == "exit" ? WhenDone::exit : WhenDone::idle;
     },
     [](const Run& r) {
         return to_node(std::string(when_done_choices[r.when_done == WhenDone::exit ? 0 : 1]));
     }},
    {{"multiplier", "number 0.000001..1000000", "1.0", "", Effect::live,
      "factor on the rates of all streams that scale"},
     [](Decoder& d, const At& at, Run& r) { d.real(at, 1e-6, 1e6, r.multiplier); },
     [](const Run& r) { return to_node(r.multiplier); }},
    {{"settle_time", "duration", "\"200ms\"", "", Effect::next_run,
      "wait for packets in flight between the last packet sent and the report"},
     [](Decoder& d, const At& at, Run& r) { d.duration(at, Duration{0}, one_hour, r.settle_time); },
     [](const Run& r) { return to_node(r.settle_time); }},
    {{"resolve_timeout", "duration", "\"3s\"", "", Effect::next_run,
      "wait for the answers of next hops, for streams whose eth.dst is \"resolve\""},
     [](Decoder& d, const At& at, Run& r) {
         d.duration(at, Duration{1'000'000}, one_hour, r.resolve_timeout);
     },
     [](const Run& r) { return to_node(r.resolve_timeout); }},
}};

const std::array<Row<Telemetry>, 4> telemetry_rows{{
    {{"interval", "duration", "\"1s\"", "", Effect::restart, "time from one telemetry line to the next"},
     [](Decoder& d, const At& at, Telemetry& t) {
         d.duration(at, Duration{10'000'000}, one_hour, t.interval);
     },
     [](const Telemetry& t) { return to_node(t.interval); }},
    {{"file", "path", "null", "", Effect::restart, "file that the lines are appended to, besides stdout"},
     [](Decoder& d, const At& at, Telemetry& t) {
         std::string path;
         d.path(at, path);
         if (!path.empty()) t.file = path;
     },
     [](const Telemetry& t) { return to_node(t.file); }},
    {{"socket", "path, \"auto\" or null", "\"auto\"", "", Effect::restart,
      "Unix socket that gives each client a line a tick; auto: NAME.telemetry.sock in the runtime folder"},
     decode_socket,
     [](const Telemetry& t) { return to_node(t.socket); }},
    {{"streams", "integer 0..1000000", "256", "", Effect::restart,
      "streams that each line shows in full; the others are summed as \"_other\""},
     [](Decoder& d, const At& at, Telemetry& t) { d.integer(at, 0, 1'000'000, t.streams); },
     [](const Telemetry& t) { return to_node(t.streams); }},
}};

const std::array<Row<Evidence>, 4> evidence_rows{{
    {{"folder", "path", "required", "", Effect::restart,
      "folder of the capture files, which exists: RUN_ID.pcapng for each run in which something was found"},
     [](Decoder& d, const At& at, Evidence& e) { d.path(at, e.folder); },
     [](const Evidence& e) { return to_node(e.folder); }},
    {{"packets", "integer 1..256", "16", "packets", Effect::restart,
      "packets kept before the one that showed it, and after it"},
     [](Decoder& d, const At& at, Evidence& e) { d.integer(at, 1, 256, e.packets); },
     [](const Evidence& e) { return to_node(e.packets); }},
    {{"files", "integer 1..10000", "16", "", Effect::restart,
      "files of this process that the folder holds at most; the oldest is removed for a new one"},
     [](Decoder& d, const At& at, Evidence& e) { d.integer(at, 1, 10'000, e.files); },
     [](const Evidence& e) { return to_node(e.files); }},
    {{"bytes", "integer 65536..1099511627776", "16777216", "bytes", Effect::restart,
      "length of a file at most; what has no room in it is counted"},
     [](Decoder& d, const At& at, Evidence& e) { d.integer(at, 65'536, std::uint64_t{1} << 40U, e.bytes); },
     [](const Evidence& e) { return to_node(e.bytes); }},
}};

const Table<Evidence>& evidence_table() {
    static const Table<Evidence> table{"evidence", evidence_rows};
    return table;
}

const std::array<Row<Model>, 11> model_rows{{
    {{"$schema", "text", "", "", Effect::none, "permitted so that editors complete and check the file"},
     [](Decoder& d, const At& at, Model& /*m*/) {
         std::string ignored;
         d.text(at, "the address of a JSON schema", ignored);
     },
     nullptr},
    {{"version", "1", "required", "", Effect::none, "version of the file's form; this program reads 1"},
     decode_version,
     [](const Model& /*m*/) { return to_node(std::uint64_t{1}); }},
    {{"name", "name", "\"volley\"", "", Effect::restart, "name of the process in telemetry and socket names"},
     [](Decoder& d, const At& at, Model& m) { d.name(at, m.name); },
     [](const Model& m) { return to_node(m.name); }},
    {{"eal", "object", "{}", "", Effect::restart, "DPDK's environment"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, eal_table(), m.eal); },
     [](const Model& m) { return encode_object(eal_table(), m.eal); }},
    {{"lcores", "object", "{}", "", Effect::restart, "lcores of the threads that are not workers"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, lcores_table(), m.lcores); },
     [](const Model& m) { return encode_object(lcores_table(), m.lcores); }},
    {{"run", "object", "{}", "", Effect::next_run, "when traffic starts and ends"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, run_table(), m.run); },
     [](const Model& m) { return encode_object(run_table(), m.run); }},
    {{"ports", "array of objects", "required", "", Effect::restart, "the ports; each needs name and device"},
     decode_ports,
     encode_ports},
    {{"streams", "array of objects", "[]", "", Effect::live, "the traffic; none: the ports stay silent"},
     decode_streams,
     encode_streams},
    {{"telemetry", "object", "{}", "", Effect::restart, "where telemetry lines go"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, telemetry_table(), m.telemetry); },
     [](const Model& m) { return encode_object(telemetry_table(), m.telemetry); }},
    {{"service", "object", "{}", "", Effect::restart,
      "the control interface: what it listens on and who may use it"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, service_table(), m.service); },
     [](const Model& m) { return encode_object(service_table(), m.service); }},
    {{"evidence", "object", "null", "", Effect::restart,
      "capture files of the packets around the first loss, duplicate, reordering and corruption of each "
      "stream; null: none are made"},
     [](Decoder& d, const At& at, Model& m) { decode_object(d, at, evidence_table(), m.evidence.emplace()); },
     [](const Model& m) { return m.evidence ? encode_object(evidence_table(), *m.evidence) : Node{}; }},
}};

}  // namespace

const Table<Eal>& eal_table() {
    static const Table<Eal> table{"eal", eal_rows};
    return table;
}

const Table<Lcores>& lcores_table() {
    static const Table<Lcores> table{"lcores", lcores_rows};
    return table;
}

const Table<Run>& run_table() {
    static const Table<Run> table{"run", run_rows};
    return table;
}

const Table<Telemetry>& telemetry_table() {
    static const Table<Telemetry> table{"telemetry", telemetry_rows};
    return table;
}

const Table<Model>& model_table() {
    static const Table<Model> table{"", model_rows};
    return table;
}

Node encode_model(const Model& model) {
    return encode_object(model_table(), model);
}

void append_process_keys(std::vector<KeyInfo>& out) {
    append_keys(model_table(), out);
    append_keys(eal_table(), out);
    append_keys(lcores_table(), out);
    append_keys(run_table(), out);
    append_keys(evidence_table(), out);
}

}  // namespace volley::config
