// The bodies of Asio and Beast, compiled once: see the defines in meson.build.
#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/beast/src.hpp>
