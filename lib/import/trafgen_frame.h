#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "import/trafgen.h"
#include "import/trafgen_text.h"

namespace volley::imports {

/// A value of a header function's field.
struct FieldSetting {
    enum class Kind : std::uint8_t { flag, number, mac, ipv4, ipv6, text, dinc, drnd };
    std::string name;  ///< lower case
    Mark place;
    Kind kind = Kind::flag;
    packet::Value number = 0;
    std::string text;                      ///< a name's text, or the word of `type=echorequest`
    std::vector<std::uint64_t> arguments;  ///< of dinc and drnd
    std::int64_t byte = -1;                ///< name[byte:length]: part of the field
    std::uint32_t length = 1;
    std::vector<FieldSetting> inner;  ///< of name(…), as qry(name="…") has them
};

/// Builds one packet element by element. Throws Error with the place.
class TrafgenFrame {
  public:
    TrafgenFrame(const Preprocessed& context, const TrafgenOptions& options, std::uint64_t number)
        : context_(context), options_(options), number_(number) {}

    [[nodiscard]] std::size_t size() const { return header_.raw.size(); }
    void add_byte(std::uint8_t byte, Mark place) { add_bytes(1, byte, place); }
    void add_bytes(std::uint64_t count, std::uint8_t byte, Mark place);
    /// count bytes drawn once, and count bytes drawn for every packet.
    void add_drawn(std::uint64_t count, Mark place);
    void add_random(std::uint64_t count, Mark place);
    /// A byte that steps before each send, as trafgen's does.
    void add_counter(std::uint32_t min, std::uint32_t max, std::uint32_t step, bool down, Mark place);
    /// The RFC 1071 sum of bytes from..to, inclusive.
    void add_sum(std::uint64_t from, std::uint64_t to, Mark place);
    /// The sum from `l4` to the end with the pseudo-header of the IP header at `ip`.
    void add_transport_sum(std::uint64_t ip, std::uint64_t l4, std::uint8_t protocol, bool ipv6, Mark place);
    void add_header(const std::string& name, const std::vector<FieldSetting>& settings, Mark place);

    /// The packet; `place` is its closing bracket.
    packet::PacketModel finish(Mark place);
    /// What finish() found harmless.
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    struct Layer {
        std::string_view kind;  ///< "eth", "ip4", …
        std::uint32_t offset = 0;
        std::uint32_t length = 0;
        Mark place;
        std::vector<std::string_view> given;  ///< fields that were set
        bool automatic = false;               ///< added for the one behind it
        bool has_type = false;                ///< kind vlan: a type that was given stands behind the tag
    };
    struct FieldPlace {
        std::string_view kind;
        std::string_view name;
        std::uint32_t bit = 0;
        std::uint32_t width = 0;
    };

    [[noreturn]] void fail(Mark mark, const std::string& text) const {
        throw Error(context_.place(mark) + ": " + text);
    }
    static const std::vector<FieldPlace>& places();
    [[nodiscard]] bool follows(std::string_view kind) const;
    void open_layer(std::string_view kind, std::uint32_t length, Mark place, bool automatic);
    void take_type();
    void add_lower(std::string_view kind, Mark place);
    void fill_defaults(Layer& layer);
    void apply(Layer& layer, const FieldSetting& setting);
    bool apply_special(Layer& layer, const FieldSetting& setting);
    void set_field(Layer& layer, std::string_view name, packet::Value value);
    [[nodiscard]] static bool given(const Layer& layer, std::string_view name);
    void set_program(const Layer& layer, const FieldPlace& field, const FieldSetting& setting);
    void announce(std::size_t lower, std::size_t upper);
    void close_layer(std::size_t index, Mark end);
    void add_dns_record(const FieldSetting& record, Mark place);
    [[nodiscard]] packet::Value dns_type(const FieldSetting& data) const;
    [[nodiscard]] packet::Value dns_number(const FieldSetting& part, unsigned bits) const;
    void add_dns_data(const FieldSetting& data, Mark place);
    void add_dns_name(const std::string& name, Mark place);
    void put_sum(std::uint32_t at, packet::RawChecksum sum);
    void check_sum(packet::RawChecksum& sum, Mark place);
    void split_programs();
    void check_room(std::uint64_t count, Mark place) const;

    const Preprocessed& context_;
    const TrafgenOptions& options_;
    std::uint64_t number_;
    packet::HeaderModel header_;
    std::vector<Layer> layers_;
    std::vector<Mark> sum_places_;  ///< of the checksums that were written as such
    std::vector<std::string> warnings_;
};

}  // namespace volley::imports
