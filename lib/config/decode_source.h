#pragma once

#include <vector>

#include "config/decoder.h"
#include "config/key.h"
#include "config/model.h"
#include "config/node.h"
#include "config/rows.h"

namespace volley::config {

/// streams[].packet as it is read: a header stack, or where else packets come from.
struct PacketDraft {
    packet::PacketModel model;
    PacketSource source;
    bool pad_given = false;
};

const Table<PacketDraft>& packet_table();

void decode_pcap(Decoder& decoder, const At& at, PacketDraft& out);
Node encode_pcap(const PacketDraft& packet);
void decode_packets(Decoder& decoder, const At& at, PacketDraft& out);
Node encode_packets(const PacketDraft& packet);
void decode_order(Decoder& decoder, const At& at, PacketDraft& out);
Node encode_order(const PacketDraft& packet);

/// The keys of `pcap`.
void append_source_keys(std::vector<KeyInfo>& out);

}  // namespace volley::config
