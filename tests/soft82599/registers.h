#pragma once

#include <cstdint>

/// Register offsets and bits of the Intel 82599 that the model gives a meaning of their own.
/// Every other register of the BAR is plain memory. Names and sections as in the "Intel 82599 10 GbE
/// Controller Datasheet", chapter 8 (programming interface) and 7.2.3 / 7.1.6 (descriptors).
namespace volley::soft82599::reg {

using Offset = std::uint32_t;

inline constexpr unsigned tx_queues = 128;
inline constexpr unsigned rx_queues = 128;
inline constexpr unsigned stat_counters = 16;  ///< per-queue statistics registers; queues are mapped to them

// General, EEPROM and semaphores
inline constexpr Offset ctrl = 0x00000;
inline constexpr std::uint32_t ctrl_gio_disable = 1U << 2;
inline constexpr std::uint32_t ctrl_link_reset = 1U << 3;
inline constexpr std::uint32_t ctrl_reset = 1U << 26;
inline constexpr Offset status = 0x00008;
inline constexpr std::uint32_t status_gio_master = 1U << 19;
inline constexpr Offset esdp = 0x00020;
inline constexpr std::uint32_t esdp_sdp2 = 1U << 2;  ///< SFP cage full
inline constexpr Offset i2cctl = 0x00028;
inline constexpr Offset eec = 0x10010;
inline constexpr std::uint32_t eec_request = 1U << 6;
inline constexpr std::uint32_t eec_grant = 1U << 7;
inline constexpr std::uint32_t eec_present_auto_read = 0x300U | (4U << 11);
inline constexpr Offset eerd = 0x10014;
inline constexpr Offset swsm = 0x10140;
inline constexpr Offset sw_fw_sync = 0x10160;

// Interrupts
inline constexpr Offset eicr = 0x00800;
inline constexpr Offset eics = 0x00808;
inline constexpr Offset eiac = 0x00810;
inline constexpr Offset eims = 0x00880;
inline constexpr Offset eimc = 0x00888;
inline constexpr Offset gpie = 0x00898;
inline constexpr std::uint32_t gpie_msix = 1U << 4;
inline constexpr std::uint32_t gpie_auto_mask = 1U << 30;  ///< EIAME
inline constexpr Offset ivar = 0x00900;                    ///< 64 registers, two queues each
inline constexpr Offset ivar_misc = 0x00A00;
inline constexpr Offset eims_ex = 0x00AA0;  ///< two registers, causes 0-31 and 32-63
inline constexpr Offset eimc_ex = 0x00AB0;
inline constexpr Offset eiam_ex = 0x00AD0;
inline constexpr std::uint32_t cause_link = 1U << 20;  ///< LSC
inline constexpr std::uint32_t cause_rx_miss = 1U << 17;

// Receive
inline constexpr Offset rdrxctl = 0x02F00;
inline constexpr std::uint32_t rdrxctl_dma_init_done = 1U << 3;
inline constexpr Offset rxctrl = 0x03000;
inline constexpr Offset rxpbsize = 0x03C00;
inline constexpr Offset mflcn = 0x04294;
inline constexpr std::uint32_t mflcn_pass_control = 1U << 0;   ///< PMCF
inline constexpr std::uint32_t mflcn_discard_pause = 1U << 1;  ///< DPF
inline constexpr std::uint32_t mflcn_obey_pause = 1U << 3;     ///< RFCE
inline constexpr Offset hlreg0 = 0x04240;
inline constexpr std::uint32_t hlreg0_strip_crc = 1U << 1;
inline constexpr std::uint32_t hlreg0_jumbo = 1U << 2;
inline constexpr std::uint32_t hlreg0_pad = 1U << 10;
inline constexpr Offset maxfrs = 0x04268;
inline constexpr Offset fctrl = 0x05080;
inline constexpr std::uint32_t fctrl_all_multicast = 1U << 8;
inline constexpr std::uint32_t fctrl_all_unicast = 1U << 9;
inline constexpr std::uint32_t fctrl_broadcast = 1U << 10;
inline constexpr Offset vlnctrl = 0x05088;
inline constexpr std::uint32_t vlnctrl_filter = 1U << 30;
inline constexpr Offset mcstctrl = 0x05090;
inline constexpr Offset mta = 0x05200;
inline constexpr Offset ral0 = 0x05400;
inline constexpr Offset rah0 = 0x05404;
inline constexpr std::uint32_t rah_valid = 1U << 31;
inline constexpr Offset mrqc = 0x05818;
inline constexpr Offset reta = 0x05C00;
inline constexpr Offset rssrk = 0x05C80;
inline constexpr Offset vfta = 0x0A000;
inline constexpr Offset rar_high = 0x0A200;  ///< RAL/RAH 16 and above, at rar_high + 8 * n
inline constexpr Offset rqsmr = 0x02300;

/// First register of RX queue q: RDBAL +0, RDBAH +4, RDLEN +8, RDH +10, RDT +18, RXDCTL +28.
constexpr Offset rx_queue(unsigned q) {
    return q < 64 ? 0x01000 + 0x40 * q : 0x0D000 + 0x40 * (q - 64);
}
constexpr Offset srrctl(unsigned q) {
    return q < 16 ? 0x02100 + 4 * q : (q < 64 ? 0x01014 + 0x40 * q : 0x0D014 + 0x40 * (q - 64));
}
inline constexpr Offset base_low = 0x00;
inline constexpr Offset base_high = 0x04;
inline constexpr Offset length = 0x08;
inline constexpr Offset head = 0x10;
inline constexpr Offset tail = 0x18;
inline constexpr Offset control = 0x28;  ///< RXDCTL, TXDCTL
inline constexpr std::uint32_t control_enable = 1U << 25;
inline constexpr std::uint32_t control_flush = 1U << 26;
inline constexpr std::uint32_t rxdctl_vlan_strip = 1U << 30;

// Transmit
inline constexpr Offset tx_first = 0x06000;
inline constexpr Offset tx_end = 0x08000;
/// First register of TX queue q, laid out as the RX queue's.
constexpr Offset tx_queue(unsigned q) {
    return tx_first + 0x40 * q;
}
inline constexpr Offset dmatxctl = 0x04A80;
inline constexpr std::uint32_t dmatxctl_enable = 1U << 0;
inline constexpr Offset rttdqsel = 0x04904;
inline constexpr Offset rttbcnrm = 0x04980;  ///< MMW_SIZE
inline constexpr Offset rttbcnrc = 0x04984;
inline constexpr std::uint32_t rttbcnrc_enable = 1U << 31;
inline constexpr Offset tqsm = 0x08600;
inline constexpr Offset sectxstat = 0x08804;
inline constexpr Offset secrxstat = 0x08D04;

// Link
inline constexpr Offset msca = 0x0425C;
inline constexpr Offset msrwd = 0x04260;
inline constexpr Offset autoc = 0x042A0;
inline constexpr std::uint32_t autoc_restart = 1U << 12;
inline constexpr Offset links = 0x042A4;
inline constexpr Offset autoc2 = 0x042A8;
inline constexpr Offset anlp1 = 0x042B0;

// Flow director (commands complete at once; no filter is modelled)
inline constexpr Offset fdirctrl = 0x0EE00;
inline constexpr Offset fdircmd = 0x0EE2C;

}  // namespace volley::soft82599::reg
