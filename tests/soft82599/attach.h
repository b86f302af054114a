#pragma once

struct rte_pci_device;

namespace volley::soft82599 {

class Nic;

/// Puts a port on DPDK's PCI bus as 8259:99:NN.0 and lets the ixgbe driver probe it; takes it off again.
/// The driver gets an MSI-X interrupt handle with one eventfd for the other causes; it makes those of its
/// queues itself.
class Attachment {
  public:
    /// Throws std::runtime_error with the reason when the driver does not take the port. `nic` must outlive
    /// this.
    Attachment(Nic& nic, unsigned number);
    ~Attachment();
    Attachment(const Attachment&) = delete;
    Attachment& operator=(const Attachment&) = delete;

  private:
    void build_device(unsigned number);
    void plug();
    [[nodiscard]] bool on_bus() const;

    Nic& nic_;
    rte_pci_device* device_ = nullptr;  ///< owned by the PCI bus once plugged
    int event_fd_ = -1;                 ///< shared by all ports that ever have this number
};

}  // namespace volley::soft82599
