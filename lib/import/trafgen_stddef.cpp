#include "import/trafgen_text.h"

namespace volley::imports {

// Numbers from the registries of IEEE 802 and IANA, under the names of Linux's if_ether.h and in.h.
std::string_view trafgen_stddef() {
    static constexpr std::string_view text = R"(
#define ETH_ALEN 6
#define ETH_HLEN 14
#define ETH_ZLEN 60
#define ETH_DATA_LEN 1500
#define ETH_FRAME_LEN 1514
#define ETH_FCS_LEN 4
#define ETH_SRC_RAND drnd(6)
#define ETH_DST_RAND drnd(6)
#define ETH_P_802_3 0x0001
#define ETH_P_LOOP 0x0060
#define ETH_P_PUP 0x0200
#define ETH_P_PUPAT 0x0201
#define ETH_P_IP 0x0800
#define ETH_P_X25 0x0805
#define ETH_P_ARP 0x0806
#define ETH_P_BATMAN 0x4305
#define ETH_P_TEB 0x6558
#define ETH_P_RARP 0x8035
#define ETH_P_ATALK 0x809b
#define ETH_P_AARP 0x80f3
#define ETH_P_8021Q 0x8100
#define ETH_P_IPX 0x8137
#define ETH_P_IPV6 0x86dd
#define ETH_P_PAUSE 0x8808
#define ETH_P_SLOW 0x8809
#define ETH_P_WCCP 0x883e
#define ETH_P_MPLS_UC 0x8847
#define ETH_P_MPLS_MC 0x8848
#define ETH_P_PPP_DISC 0x8863
#define ETH_P_PPP_SES 0x8864
#define ETH_P_PAE 0x888e
#define ETH_P_AOE 0x88a2
#define ETH_P_8021AD 0x88a8
#define ETH_P_802_EX1 0x88b5
#define ETH_P_TIPC 0x88ca
#define ETH_P_8021AH 0x88e7
#define ETH_P_1588 0x88f7
#define ETH_P_FCOE 0x8906
#define ETH_P_TDLS 0x890d
#define ETH_P_FIP 0x8914
#define ETH_P_QINQ1 0x9100
#define ETH_P_QINQ2 0x9200
#define ETH_P_QINQ3 0x9300
#define ETH_P_EDSA 0xdada
#define INADDR_BROADCAST 0xffffffff
#define INADDR_LOOPBACK 0x7f000001
#define INADDR_UNSPEC_GROUP 0xe0000000
#define INADDR_ALLHOSTS_GROUP 0xe0000001
#define INADDR_ALLRTRS_GROUP 0xe0000002
#define INADDR_MAX_LOCAL_GROUP 0xe00000ff
#define IPPROTO_ICMP 1
#define IPPROTO_IGMP 2
#define IPPROTO_IPIP 4
#define IPPROTO_TCP 6
#define IPPROTO_EGP 8
#define IPPROTO_PUP 12
#define IPPROTO_UDP 17
#define IPPROTO_IDP 22
#define IPPROTO_DCCP 33
#define IPPROTO_IPV6 41
#define IPPROTO_RSVP 46
#define IPPROTO_GRE 47
#define IPPROTO_ESP 50
#define IPPROTO_AH 51
#define IPPROTO_BEETPH 94
#define IPPROTO_PIM 103
#define IPPROTO_COMP 108
#define IPPROTO_SCTP 132
#define IPPROTO_UDPLITE 136
#define IP_ALEN 4
#define IP_VERSION 4
#define IP_TTL_DEFAULT 64
#define IP_HDR_OFF_DEFAULT 14
#define IP_SRC_RAND drnd(4)
#define IP_DST_RAND drnd(4)
#define IP_ID_RAND drnd(2)
#define IP_CSUM_DEFAULT csumip(14, 33)
#define IPV6_ALEN 16
#define IPV6_VERSION 6
#define IPV6_HDR_OFF_DEFAULT 14
#define IPV6_SRC_RAND drnd(16)
#define IPV6_DST_RAND drnd(16)
#define ICMP_ECHOREPLY 0
#define ICMP_DEST_UNREACH 3
#define ICMP_SOURCE_QUENCH 4
#define ICMP_REDIRECT 5
#define ICMP_ECHO 8
#define ICMP_TIME_EXCEEDED 11
#define ICMP_PARAMETERPROB 12
#define ICMP_TIMESTAMP 13
#define ICMP_TIMESTAMPREPLY 14
#define ICMP_INFO_REQUEST 15
#define ICMP_INFO_REPLY 16
#define ICMP_ADDRESS 17
#define ICMP_ADDRESSREPLY 18
#define ICMP_NET_UNREACH 0
#define ICMP_HOST_UNREACH 1
#define ICMP_PROT_UNREACH 2
#define ICMP_PORT_UNREACH 3
#define ICMP_FRAG_NEEDED 4
#define ICMP_SR_FAILED 5
#define ICMP_NET_UNKNOWN 6
#define ICMP_HOST_UNKNOWN 7
#define ICMP_HOST_ISOLATED 8
#define ICMP_NET_ANO 9
#define ICMP_HOST_ANO 10
#define ICMP_NET_UNR_TOS 11
#define ICMP_HOST_UNR_TOS 12
#define ICMP_PKT_FILTERED 13
#define ICMP_PREC_VIOLATION 14
#define ICMP_PREC_CUTOFF 15
#define ICMP_REDIR_NET 0
#define ICMP_REDIR_HOST 1
#define ICMP_REDIR_NETTOS 2
#define ICMP_REDIR_HOSTTOS 3
#define ICMP_EXC_TTL 0
#define ICMP_EXC_FRAGTIME 1
#define TCP_SEQ_RAND drnd(4)
#define TCP_ACK_RAND drnd(4)
#define TCP_SRC_RAND drnd(2)
#define TCP_DST_RAND drnd(2)
#define TCP_CSUM_DEFAULT csumtcp(14, 34)
#define TCP_FLAG_FIN (1 << 0)
#define TCP_FLAG_SYN (1 << 1)
#define TCP_FLAG_RST (1 << 2)
#define TCP_FLAG_PSH (1 << 3)
#define TCP_FLAG_ACK (1 << 4)
#define TCP_FLAG_URG (1 << 5)
#define TCP_FLAG_ECE (1 << 6)
#define TCP_FLAG_CWR (1 << 7)
#define TCP_RESERVED_BITS 0x0f00
#define TCP_DATA_OFFSET 0xf000
#define JOIN(a, b) a ## b
#define IF_0(x)
#define IF_1(x) x
#define IF(bit, x) JOIN(IF_, bit)(x)
#define IF_ELSE_0(x, y) y
#define IF_ELSE_1(x, y) x
#define IF_ELSE(bit, x, y) JOIN(IF_ELSE_, bit)(x, y)
#define be16(x) c16(x)
#define be32(x) c32(x)
#define be64(x) c64(x)
)";
    return text;
}

}  // namespace volley::imports
