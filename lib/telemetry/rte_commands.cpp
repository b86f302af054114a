#include "telemetry/rte_commands.h"

#include <rte_telemetry.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace volley::telemetry {
namespace {

// 64 bytes of name, quoted and escaped: 64 of them stay below 16 KiB whatever they hold.
constexpr std::size_t most_names = 64;

// A command of DPDK 22.11 has no argument of its own, so what it reads stands here. Written by control, read
// by DPDK's telemetry threads, under the lock, which nothing of the data path ever takes.
std::mutex mutex;
const StatsLoop* source = nullptr;

std::shared_ptr<const Published> latest() {
    const std::lock_guard lock(mutex);
    return source == nullptr ? nullptr : source->latest();
}

// "12" -> 12; nothing for anything else.
std::optional<std::size_t> number_of(const char* params) {
    if (params == nullptr) return std::nullopt;
    std::size_t out = 0;
    const char* const end = params + std::strlen(params);
    const auto [rest, error] = std::from_chars(params, end, out);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return out;
}

// One answer as a dictionary. Values of texts may have 127 bytes there; longer ones are cut.
class Dictionary {
  public:
    explicit Dictionary(rte_tel_data* out) : out_(out) { rte_tel_data_start_dict(out_); }
    Dictionary& add(const char* key, std::uint64_t value) {
        rte_tel_data_add_dict_u64(out_, key, value);
        return *this;
    }
    Dictionary& add(const char* key, const std::string& value) {
        rte_tel_data_add_dict_string(out_, key, value.substr(0, RTE_TEL_MAX_STRING_LEN - 1).c_str());
        return *this;
    }
    Dictionary& add(const char* key, const std::optional<double>& value) {
        return add(key,
                   value && *value > 0 ? static_cast<std::uint64_t>(std::llround(*value)) : std::uint64_t{0});
    }

  private:
    rte_tel_data* out_;
};

template <class Rows>
int list(const Rows& rows, const char* params, rte_tel_data* out) {
    const std::size_t offset = number_of(params).value_or(0);
    rte_tel_data_start_array(out, RTE_TEL_STRING_VAL);
    for (std::size_t i = offset; i < rows.size() && i - offset < most_names; ++i)
        rte_tel_data_add_array_string(out, rows[i].name.c_str());
    return 0;
}

int info(const char* /*cmd*/, const char* /*params*/, rte_tel_data* out) {
    const auto line = latest();
    if (line == nullptr) return -EAGAIN;
    const Snapshot& now = line->snapshot;
    Dictionary(out)
        .add("state", now.state)
        .add("run_id", now.run_id)
        .add("generation", now.generation)
        .add("sequence", now.sequence)
        .add("time_unix_ns", now.time_unix_ns)
        .add("duration_ns", now.duration_ns)
        .add("ports", std::uint64_t{now.ports.size()})
        .add("streams", std::uint64_t{line->totals->streams.size()})
        .add("lcores", std::uint64_t{now.workers.size()})
        .add("warnings", std::uint64_t{now.warnings.size()});
    return 0;
}

int ports(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    return line == nullptr ? -EAGAIN : list(line->snapshot.ports, params, out);
}

int port(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    const auto number = number_of(params);
    if (line == nullptr) return -EAGAIN;
    if (!number || *number >= line->snapshot.ports.size()) return -EINVAL;
    const PortView& view = line->snapshot.ports[*number];
    Dictionary answer(out);
    answer.add("name", view.name)
        .add("device", view.device)
        .add("driver", view.driver)
        .add("tx_path", view.tx_path);
    answer.add("link_up", std::uint64_t{view.link.up ? 1U : 0U}).add("link_speed_bps", view.link.speed_bps);
    if (view.tx) {
        const Traffic& tx = view.tx->traffic;
        answer.add("tx_packets", tx.packets).add("tx_l2_bytes", tx.l2_bytes).add("tx_pps", tx.rates.pps);
        answer.add("tx_l1_bps", tx.rates.l1_bps)
            .add("tx_errors", view.tx->errors)
            .add("tx_unsent", view.tx->unsent);
    }
    if (view.rx) {
        const Traffic& rx = view.rx->traffic;
        answer.add("rx_packets", rx.packets).add("rx_l2_bytes", rx.l2_bytes).add("rx_pps", rx.rates.pps);
        answer.add("rx_missed", view.rx->missed).add("rx_errors", view.rx->errors);
    }
    return 0;
}

int streams(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    return line == nullptr ? -EAGAIN : list(line->totals->streams, params, out);
}

int stream(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    const auto number = number_of(params);
    if (line == nullptr) return -EAGAIN;
    if (!number || *number >= line->totals->streams.size()) return -EINVAL;
    std::size_t total = 0;
    const StreamView view =
        make_streams(*line->base, *line->previous, *line->totals, "", *number, 1, total).at(0);
    Dictionary answer(out);
    answer.add("name", view.name).add("port", view.port.value_or("")).add("state", view.state.value_or(""));
    answer.add("tx_packets", view.tx.packets)
        .add("tx_l2_bytes", view.tx.l2_bytes)
        .add("tx_pps", view.tx.rates.pps);
    if (view.target_pps) answer.add("target_pps", view.target_pps);
    if (view.shortfall_packets) answer.add("shortfall_packets", *view.shortfall_packets);
    if (view.rx) {
        answer.add("rx_packets", view.rx->traffic.packets).add("rx_lost", view.rx->lost);
        answer.add("rx_duplicates", view.rx->duplicates).add("rx_reordered", view.rx->reordered);
        answer.add("rx_corrupted", view.rx->corrupted);
    }
    return 0;
}

int lcores(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    return line == nullptr ? -EAGAIN : list(line->snapshot.workers, params, out);
}

int lcore(const char* /*cmd*/, const char* params, rte_tel_data* out) {
    const auto line = latest();
    const auto number = number_of(params);
    if (line == nullptr) return -EAGAIN;
    if (!number || *number >= line->snapshot.workers.size()) return -EINVAL;
    const WorkerView& view = line->snapshot.workers[*number];
    Dictionary answer(out);
    answer.add("name", view.name).add("role", view.role).add("lcore", std::uint64_t{view.lcore});
    answer.add("heartbeat", view.heartbeat);
    if (view.busy_ratio) answer.add("busy_permille", std::optional(*view.busy_ratio * 1000));
    if (view.tx) answer.add("tx_packets", view.tx->packets);
    if (view.mempool) answer.add("mempool_free", view.mempool->free).add("mempool_size", view.mempool->size);
    return 0;
}

struct Entry {
    const char* name;
    telemetry_cb callback;
    const char* help;
};

constexpr std::array<Entry, 7> entries{{
    {"/volley/info", info, "State, run and sizes. No parameters"},
    {"/volley/ports", ports, "Names of ports. Parameter: number of the first (default 0)"},
    {"/volley/port", port, "One port. Parameter: its number in the list"},
    {"/volley/streams", streams, "Names of 64 streams. Parameter: number of the first (default 0)"},
    {"/volley/stream", stream,
     "One stream, counted as in the telemetry line. Parameter: its number in the list"},
    {"/volley/lcores", lcores, "Names of the data path's lcores. Parameter: number of the first (default 0)"},
    {"/volley/lcore", lcore, "One lcore. Parameter: its number in the list"},
}};

}  // namespace

RteCommands::RteCommands(const StatsLoop& stats) {
    static bool registered = false;  // for good: DPDK forgets no command
    const std::lock_guard lock(mutex);
    if (!registered) {
        for (const Entry& entry : entries) {
            if (rte_telemetry_register_cmd(entry.name, entry.callback, entry.help) != 0)
                throw std::runtime_error(std::string("DPDK telemetry does not take the command ") +
                                         entry.name);
        }
        registered = true;
    }
    source = &stats;
}

RteCommands::~RteCommands() {
    const std::lock_guard lock(mutex);
    source = nullptr;
}

}  // namespace volley::telemetry
