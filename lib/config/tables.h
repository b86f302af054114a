#pragma once

#include <string>
#include <vector>

#include "config/model.h"
#include "config/node.h"
#include "config/rows.h"

namespace volley::config {

/// The tables of the objects, each with its rows in the source of its part of the file.
const Table<Model>& model_table();
const Table<Eal>& eal_table();
const Table<Lcores>& lcores_table();
const Table<Run>& run_table();
const Table<Telemetry>& telemetry_table();
const Table<Service>& service_table();
const Table<Port>& port_table();
const Table<TxQueues>& tx_table();
const Table<RxQueues>& rx_table();
const Table<Stream>& stream_table();

/// Reads the array of ports or streams.
void decode_ports(Decoder& decoder, const At& at, Model& out);
void decode_streams(Decoder& decoder, const At& at, Model& out);
Node encode_ports(const Model& model);
Node encode_streams(const Model& model);

/// The objects below a packet, for the documentation.
void append_packet_keys(std::vector<KeyInfo>& out);
/// The time line of a stream: streams[].rate, .start, .bursts, .departure.
void decode_stream_rate(Decoder& decoder, const At& at, Stream& out);
void decode_start(Decoder& decoder, const At& at, Stream& out);
void decode_bursts(Decoder& decoder, const At& at, Stream& out);
void decode_departure(Decoder& decoder, const At& at, Stream& out);
Node encode_stream_rate(const Stream& stream);
Node encode_start(const Stream& stream);
Node encode_bursts(const Stream& stream);
Node encode_departure(const Stream& stream);
void append_schedule_keys(std::vector<KeyInfo>& out);

void append_stream_keys(std::vector<KeyInfo>& out);
void append_value_keys(std::vector<KeyInfo>& out);
void append_process_keys(std::vector<KeyInfo>& out);
void append_service_keys(std::vector<KeyInfo>& out);

/// streams[].packet.
void decode_packet(Decoder& decoder, const At& at, Stream& out);
Node encode_packet(const Stream& stream);

/// The whole file as a tree, with every default filled in.
Node encode_model(const Model& model);

}  // namespace volley::config
