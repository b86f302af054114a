#pragma once

namespace volley::soft82599 {

class Nic;

/// From now on an access to the port's BAR runs the model in the accessing thread. The first call installs
/// the SIGSEGV handler; a fault elsewhere puts the handler before it back and goes on as if this one had
/// never been. Throws std::runtime_error beyond 32 ports, std::system_error.
void trap_add(Nic& nic);
/// No thread may be in an access of this port any more.
void trap_remove(const Nic& nic) noexcept;

}  // namespace volley::soft82599
